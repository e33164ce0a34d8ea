import { computed, effect, signal } from "@preact/signals";
import type { Capability } from "@waybill/protocol";
import { announce, waitingForPerson } from "../hub/announce.ts";
import { onEntry, rows, version } from "../hub/feed.ts";
import type { HandoffRow } from "../hub/handoffs.ts";
import { visible } from "../parts/text.tsx";
import { Trust } from "../trust/check.ts";
import { inOnePage } from "../trust/mailbox.ts";
import { Inbox } from "./inbox.ts";
import { notify } from "./notifications.ts";
import { findPerson, person } from "./person.ts";
import type { Person } from "./person.ts";

/** The inbox of the person at this page, open as long as the page is. */
export const inbox = signal<Inbox | undefined>(undefined);
/** What the person's newest manifest offers. */
export const offered = signal<readonly Capability[]>([]);

/** The work that waits for the person, in the order in which it was handed off. */
export const waitingWork = computed<readonly HandoffRow[]>(() => {
  void version.value;
  const who = person.value;
  return who ? rows.all().filter((row) => waitsFor(row, who.agent)) : [];
});

function waitsFor({ standing, to, capability }: HandoffRow, agent: string): boolean {
  if (standing !== "waiting") return false;
  return to === agent || (to === "" && offered.value.some(({ name }) => name === capability));
}

let restart = new AbortController();

/** Keeps the inbox open until the signal aborts, for whoever has a key in this browser. */
export async function keepInbox(stop: AbortSignal): Promise<void> {
  await findPerson();
  const told = new Set<string>();
  const unsubscribe = onEntry(({ handoff_id: id }) => {
    const row = id === null ? undefined : rows.get(id);
    if (row === undefined || person.value == null || told.has(row.id)) return;
    if (!waitsFor(row, person.value.agent)) return;
    told.add(row.id);
    tell(`${row.from} hands you work: ${row.capability}.`);
  });
  const disposers = [
    unsubscribe,
    effect(() => {
      const { questions = [], endings = [], held = [] } = countsOf(inbox.value);
      const waits = waitingWork.value.length + questions.length + endings.length + held.length;
      waitingForPerson.value = waits;
    }),
    effect(() => {
      const news = inbox.value?.news.value ?? "";
      if (news !== "") tell(news);
    }),
    effect(() => {
      restart.abort();
      const who = person.value;
      if (who) open(who, AbortSignal.any([stop, (restart = new AbortController()).signal]));
    }),
  ];
  stop.addEventListener("abort", () => {
    for (const dispose of disposers) dispose();
    waitingForPerson.value = 0;
    inbox.value = undefined;
  });
}

function countsOf(of: Inbox | undefined) {
  return { questions: of?.questions.value, endings: of?.endings.value, held: of?.held.value };
}

/** Opens the inbox again, after another page or program had it. */
export function reopenInbox(): void {
  const who = person.value;
  person.value = who ? { ...who } : who;
}

/** Reads what the person offers again, after they have changed it. */
export async function readOffered(): Promise<void> {
  const who = person.value;
  if (!who) return;
  const manifests = await new Trust(who.hub).of(who.agent);
  offered.value = manifests.at(-1)?.manifest.capabilities ?? [];
}

function open(who: Person, stop: AbortSignal): void {
  const opened = new Inbox(who);
  inbox.value = opened;
  void readOffered().catch(() => undefined);
  const elsewhere = () => {
    const why =
      "Your inbox is open in another tab of this browser. Close that tab to use this one.";
    opened.state.value = { type: "elsewhere", why };
  };
  inOnePage(who, stop, () => opened.follow(stop), elsewhere);
}

function tell(text: string): void {
  announce(visible(text));
  notify(text);
}
