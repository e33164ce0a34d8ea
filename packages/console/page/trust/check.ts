import { keyring, verifyEnvelope, verifyManifest, WaybillError } from "@waybill/protocol";
import type { Envelope, Keyring, VerifiedEnvelope, VerifiedManifest } from "@waybill/protocol";
import { manifestPages, readPublished, verifyDiscard } from "@waybill/protocol/wire";
import type {
  Discard,
  ManifestsQuery,
  PublishedManifest,
  SignedRequest,
  WireEntry,
} from "@waybill/protocol/wire";
import { get } from "../hub/hub.ts";
import { session } from "../hub/session.ts";

/** What this browser found out about one entry of the ledger. */
export type Verdict =
  | { readonly type: "checked"; readonly kid: string }
  /** A decision of the hub, which it does not sign one by one. */
  | { readonly type: "unsigned" }
  | { readonly type: "broken"; readonly why: string };

/** The keys of agents, each verified by the manifest before. */
export class Trust {
  readonly #manifests = new Map<string, Promise<readonly VerifiedManifest[]>>();
  /** Why the manifests of an agent do not hold, by its id. */
  readonly problems = new Map<string, string>();
  /** The id of the hub. */
  readonly hub: string;

  constructor(hub: string) {
    this.hub = hub;
  }

  /** The keys of these agents and of the hub. */
  async keysOf(agents: Iterable<string>): Promise<Keyring> {
    const all = await Promise.all(
      [...new Set([this.hub, ...agents])].map((agent) => this.#of(agent)),
    );
    return keyring(all.flat());
  }

  /** The manifests that follow from each other, up to the first that does not. */
  of(agent: string): Promise<readonly VerifiedManifest[]> {
    return this.#of(agent);
  }

  /** Reads an agent's manifests again: it may have a new key. */
  forget(agent: string): void {
    this.#manifests.delete(agent);
  }

  #of(agent: string): Promise<readonly VerifiedManifest[]> {
    let known = this.#manifests.get(agent);
    if (known === undefined) {
      this.#manifests.set(agent, (known = this.#read(agent)));
      // The hub did not answer: next time it may.
      known.catch(() => this.#manifests.delete(agent));
    }
    return known;
  }

  async #read(agent: string): Promise<readonly VerifiedManifest[]> {
    const path = `/.well-known/waybill/agents/${encodeURIComponent(agent)}`;
    const read = async ({ after = 0 }: ManifestsQuery) =>
      readPublished(await get(`${path}?after=${after}`));
    const published: PublishedManifest[] = [];
    for await (const each of manifestPages(read, agent)) published.push(each);
    const verified: VerifiedManifest[] = [];
    for (const { text, at } of published) {
      try {
        const next = verifyManifest(text, { previous: verified.at(-1), at });
        if (next.manifest.agent_id !== agent)
          throw new Error(`It is of ${next.manifest.agent_id}.`);
        verified.push(next);
      } catch (error) {
        const { message } = WaybillError.from(error);
        this.problems.set(agent, `Its manifest ${verified.length + 1} does not hold: ${message}`);
        break;
      }
    }
    if (agent === this.hub) return this.#checkedHub(verified);
    return verified;
  }

  /** The hub of this session is the one whose first manifest was signed by the domain's key. */
  #checkedHub(verified: readonly VerifiedManifest[]): readonly VerifiedManifest[] {
    const domain = session.value?.domain;
    if (verified[0]?.kid === domain) return verified;
    this.problems.set(
      this.hub,
      `Its first manifest is not signed by the key of the custody domain ${domain}.`,
    );
    return [];
  }
}

/** An entry with its envelope, if it has one, and the verdict about it. */
export interface CheckedEntry {
  readonly entry: WireEntry;
  readonly envelope: Envelope | undefined;
  readonly verdict: Verdict;
}

/** A discard that an operators' agent has signed, as the ledger has it. */
export function signedDiscardIn({
  type,
  content,
}: WireEntry): (Discard & { readonly signed: SignedRequest }) | undefined {
  if (type !== "decision") return undefined;
  const decision = JSON.parse(content) as Discard & { readonly type: string };
  const { signed } = decision;
  return decision.type === "discard" && signed !== undefined ? { ...decision, signed } : undefined;
}

/** Checks an entry of the ledger: its signature, its digest, and that it is about this handoff. */
export function checkEntry(
  entry: WireEntry,
  handoff: string,
  { keyOf }: Pick<Keyring, "keyOf">,
  envelope: Envelope | undefined,
): CheckedEntry {
  if (entry.type !== "envelope") {
    return { entry, envelope: undefined, verdict: decisionVerdict(entry, handoff, keyOf) };
  }
  try {
    const at = Date.parse(entry.at);
    const verified = verifyEnvelope(entry.content, { keyOf, at });
    const { kid } = verified;
    const why = mismatchOf(entry, handoff, verified);
    const verdict: Verdict = why === undefined ? { type: "checked", kid } : { type: "broken", why };
    return { entry, envelope: verified.envelope, verdict };
  } catch (error) {
    const why = WaybillError.from(error).message;
    return { entry, envelope, verdict: { type: "broken", why } };
  }
}

function decisionVerdict(entry: WireEntry, handoff: string, keyOf: Keyring["keyOf"]): Verdict {
  const discard = signedDiscardIn(entry);
  if (discard === undefined) return { type: "unsigned" };
  try {
    const kid = verifyDiscard(handoff, discard, { keyOf, at: Date.parse(entry.at) });
    return { type: "checked", kid };
  } catch (error) {
    return { type: "broken", why: WaybillError.from(error).message };
  }
}

function mismatchOf(
  entry: WireEntry,
  handoff: string,
  { envelope, digest }: VerifiedEnvelope,
): string | undefined {
  if (envelope.handoff_id !== handoff) {
    return `It was signed for the handoff ${envelope.handoff_id}. The hub shows it here.`;
  }
  if (envelope.from !== entry.from) {
    return `It was signed by ${envelope.from}, and the hub says ${entry.from}.`;
  }
  if (digest !== entry.digest) {
    return "The digest that the hub names is not that of the envelope.";
  }
  return undefined;
}
