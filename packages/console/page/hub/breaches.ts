import { normalizeSchema, termsOf } from "@waybill/protocol";
import type { Capability, HandoffEnvelope, Json } from "@waybill/protocol";
import { breaches } from "@waybill/protocol/audit";
import type { AttemptFacts, Breach } from "@waybill/protocol/audit";
import type { WireHandoffView } from "@waybill/protocol/wire";
import type { CheckedEntry, Trust } from "../trust/check.ts";

type BoundContract = Parameters<typeof breaches>[0];

/** What both sides agreed on in one attempt, and who broke it. */
export interface BoundAttempt {
  readonly attempt: number;
  readonly recipient: string;
  readonly contract: BoundContract;
  readonly breaches: readonly Breach[];
}

/** The contracts of the accepted attempts, by what their parties have signed. */
export async function contractsOf(
  view: WireHandoffView,
  entries: readonly CheckedEntry[],
  trust: Trust,
): Promise<readonly BoundAttempt[]> {
  const checked = entries.filter(({ verdict }) => verdict.type === "checked");
  const handoff = checked.find(({ envelope }) => envelope?.kind === "handoff")?.envelope as
    | HandoffEnvelope
    | undefined;
  if (handoff === undefined) return [];
  const bound: BoundAttempt[] = [];
  for (const attempt of view.attempts) {
    const facts = factsOf(attempt, checked);
    if (facts.acceptedAt === null) continue;
    const capability = await capabilityOf(trust, attempt.recipient, handoff, facts.acceptedAt);
    if (capability === undefined) continue;
    const contract = contractOf(handoff, capability);
    const { from: delegator, body } = handoff;
    const found = breaches(contract, {
      delegator,
      inputBytes: body.input === undefined ? 0 : lengthOf(body.input),
      maxInputBytes: capability.max_input_bytes,
      attempts: [facts],
    });
    const { number, recipient } = attempt;
    bound.push({ attempt: number, recipient, contract, breaches: found });
  }
  return bound;
}

/** What the recipient's manifest said when it accepted. */
async function capabilityOf(
  trust: Trust,
  recipient: string,
  { body: { capability, version } }: HandoffEnvelope,
  at: number,
): Promise<Capability | undefined> {
  const manifests = await trust.of(recipient);
  const { manifest } = manifests.findLast((each) => each.at <= at) ?? manifests[0] ?? {};
  return manifest?.capabilities.find(
    (each) => each.name === capability && (version === undefined || each.version === version),
  );
}

/** The offer, and the manifest where the offer says nothing. */
function contractOf({ body }: HandoffEnvelope, capability: Capability): BoundContract {
  const { output_schema: schema, ...offered } = body.contract ?? {};
  const given = Object.entries(offered).filter(([, value]) => value !== undefined);
  return {
    ...termsOf(capability),
    ...Object.fromEntries(given),
    ...(schema !== undefined && { output_schema: normalizeSchema(schema) as Json }),
  };
}

type Attempt = WireHandoffView["attempts"][number];

function factsOf(
  { number, recipient, closed, status }: Attempt,
  checked: readonly CheckedEntry[],
): AttemptFacts {
  let acceptedAt: number | null = null;
  let endedAt: number | undefined;
  let askedAt: number | undefined;
  let waitedMs = 0;
  let result: Pick<AttemptFacts, "output" | "outputBytes" | "usage"> = {};
  for (const { entry, envelope } of checked) {
    const at = Date.parse(entry.at);
    if (envelope?.kind === "answer" && askedAt !== undefined) {
      waitedMs += at - askedAt;
      askedAt = undefined;
    }
    if (envelope === undefined || !("attempt" in envelope) || envelope.attempt !== number) continue;
    if (envelope.from !== recipient) continue;
    // Whatever a recipient signs stands for its acceptance.
    if (envelope.kind !== "receipt" || envelope.body.status === 101) acceptedAt ??= at;
    if (envelope.kind === "question") askedAt ??= at;
    if (envelope.kind === "result") {
      const { output, usage } = envelope.body;
      const outputBytes = output === undefined ? 0 : lengthOf(output);
      result = { output, outputBytes, usage };
      endedAt = at;
    } else if (envelope.kind === "receipt" && envelope.body.status !== 101) endedAt = at;
  }
  // Of an attempt that fell silent nobody has signed the end: its length is not held against anybody.
  endedAt ??= closed === null ? Date.now() : (acceptedAt ?? 0);
  return {
    attempt: number,
    recipient,
    acceptedAt,
    endedAt,
    waitedMs,
    ...(closed !== null && { closed }),
    status,
    ...result,
  };
}

function lengthOf(value: Json): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
