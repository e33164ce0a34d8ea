import { digestOf } from "@waybill/protocol";
import type { Artifact, Message } from "@waybill/protocol";
import type { AgentInputItem } from "@openai/agents";

/** How many messages are remembered. Forgotten ones come back without what items can't hold. */
const KEPT = 10_000;

const originals = new Map<string, { readonly message: Message; readonly items: number }>();

/**
 * Items have no field for a speaker's name or another framework's members: the content of their
 * `providerData` is sent to the model's host, which rejects it. So the message behind some items is
 * remembered here, by those items and all that came before them.
 */
export function remember(turns: readonly (readonly [Message, readonly AgentInputItem[]])[]): void {
  let before = "";
  for (const [message, items] of turns) {
    for (const item of items) before = linkOf(before, item);
    if (items.length === 0) continue;
    originals.delete(before);
    originals.set(before, { message, items: items.length });
    if (originals.size > KEPT) originals.delete(originals.keys().next().value!);
  }
}

/** The original messages of the first items, and the number of these items. */
export function recall(items: readonly AgentInputItem[]): { messages: Message[]; items: number } {
  const messages: Message[] = [];
  let [before, done] = ["", 0];
  for (const [at, item] of items.entries()) {
    before = linkOf(before, item);
    const known = originals.get(before);
    if (known === undefined) continue;
    if (done + known.items !== at + 1) break;
    messages.push(known.message);
    done = at + 1;
  }
  return { messages, items: done };
}

/** How many characters of files are remembered. Of forgotten files only the names are known. */
const KEPT_OF_FILES = 64 * 2 ** 20;

const results = new Map<string, readonly Artifact[]>();
let sizeOfResults = 0;

/**
 * Items have no field for a result's files either: they are remembered by the last item and all
 * before it.
 */
export function rememberFiles(items: readonly AgentInputItem[], files: readonly Artifact[]): void {
  const last = linksOf(items).at(-1);
  if (last === undefined || files.length === 0) return;
  forgetFiles(last);
  results.set(last, files);
  sizeOfResults += sizeOf(files);
  while (sizeOfResults > KEPT_OF_FILES) forgetFiles(results.keys().next().value!);
}

/** The files that remote agents have returned within these items. */
export function filesBehind(items: readonly AgentInputItem[]): Artifact[] {
  return linksOf(items).flatMap((link) => results.get(link) ?? []);
}

function forgetFiles(link: string): void {
  sizeOfResults -= sizeOf(results.get(link) ?? []);
  results.delete(link);
}

function sizeOf(files: readonly Artifact[]): number {
  return files.reduce((sum, { data = "" }) => sum + data.length, 0);
}

function linksOf(items: readonly AgentInputItem[]): string[] {
  let before = "";
  return items.map((item) => (before = linkOf(before, item)));
}

/** A hash of what the SDK leaves unchanged in an item when it copies and stores it. */
function linkOf(before: string, item: AgentInputItem): string {
  const { type, role, content, callId, name, output } = item as Record<string, unknown>;
  const given = (item as Record<string, unknown>)["arguments"];
  const kept = [type ?? "message", role, textsIn(content), callId, name, given, textsIn(output)];
  return digestOf(JSON.stringify([before, kept]));
}

function textsIn(content: unknown): unknown {
  if (Array.isArray(content)) return content.map(textsIn);
  if (typeof content !== "object" || content === null) return content;
  return (content as { text?: unknown }).text ?? (content as { filename?: unknown }).filename;
}
