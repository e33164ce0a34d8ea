import { WaybillError } from "@waybill/protocol";
import { judgeInSlices, refusalText, SCHEMA_LIMITS } from "@waybill/protocol/hub";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { Candidate, GivenInput, InputRefusal, InputVerdicts } from "@waybill/protocol/hub";
import { FIRST_OFFERED } from "../registry/offered-capabilities.ts";
import type { OfferedCapability } from "../registry/offered-capabilities.ts";
import type { Registry } from "../registry/registry.ts";
import type { SchemaChecks } from "./schema-checks.ts";

/** How much text of capabilities is read for one handoff. */
const CHARACTERS_AT_ONCE = 1024 * 1024;
/** How many refusing agents are named at most. */
const REFUSALS_SHOWN = 20;

export interface InputCheckOptions {
  readonly registry: Registry;
  readonly checks: SchemaChecks;
}

/**
 * Refuses a handoff with 422 if every agent that offers its capability here, connected or not, refuses
 * its input: it would wait in vain until its deadline.
 */
export async function checkInput(
  handoff: HandoffEnvelope,
  offered: readonly OfferedCapability[],
  { registry, checks }: InputCheckOptions,
  now: number,
): Promise<void> {
  // Beyond these there may be an agent that takes it.
  if (typeof handoff.to !== "string" && offered.length >= FIRST_OFFERED) return;
  const given = givenOf(handoff);
  const budget = { stepsLeft: SCHEMA_LIMITS.querySteps };
  const verdicts: InputVerdicts = new Map();
  let refusals: readonly InputRefusal[] = [];
  // Usually the first one takes it, and then no other schema has to be read.
  for (const some of [offered.slice(0, 1), offered]) {
    const candidates = await readAll(some, registry, now);
    const slices = candidates && judgeInSlices(given, candidates, { budget, verdicts });
    const judged = slices && (await checks.run(handoff.from, budget, slices));
    if (judged === undefined || judged.mayBeTaken) return;
    refusals = judged.refusals;
  }
  if (refusals.length > 0) throw refused(handoff.body.capability, refusals);
}

/** The facts that decide whether an agent takes the input of a handoff. */
export function givenOf({ body, to }: HandoffEnvelope): GivenInput {
  const hasWords = (body.brief ?? body.messages) !== undefined;
  const wanted =
    typeof to === "string" ? { version: body.version } : { version: to.version, tags: to.tags };
  return { input: body.input, hasWords, ...wanted };
}

/** What these agents offer; undefined if not all of it can be read. */
export async function readAll(
  offered: readonly OfferedCapability[],
  registry: Registry,
  now: number,
): Promise<readonly Candidate[] | undefined> {
  const characters = offered.reduce((sum, each) => sum + each.characters, 0);
  if (characters > CHARACTERS_AT_ONCE) return undefined;
  const candidates: Candidate[] = [];
  for (const each of offered) {
    // Claims of an agent without a valid key are not trusted.
    if (!each.hasKeyAt(now)) continue;
    const found = await registry.offered.read(each);
    if (found === undefined) return undefined;
    candidates.push({ agent_id: each.agent, trust: each.trust, ...found });
  }
  return candidates;
}

function refused(capability: string, all: readonly InputRefusal[]): WaybillError {
  const refusals = all.slice(0, REFUSALS_SHOWN);
  const more = all.length - refusals.length;
  const others = more > 0 ? `, and so do ${more} more` : "";
  return new WaybillError(
    422,
    `Nobody here takes this input for ${capability}, so nothing was handed off. ${refusalText(refusals)}${others}.`,
    { at: "/body/input", refusals },
  );
}
