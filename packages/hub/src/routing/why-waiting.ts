import {
  findCandidates,
  issuesText,
  judgeInSlices,
  queryOf,
  SCHEMA_LIMITS,
} from "@waybill/protocol/hub";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { Candidate, InputVerdicts } from "@waybill/protocol/hub";
import type { WaitReason, WaitsFor } from "@waybill/protocol/wire";
import { wantedOf } from "../access/access.ts";
import type { Access } from "../access/access.ts";
import { askerOfRecord } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { OfferedCapability } from "../registry/offered-capabilities.ts";
import type { Registry } from "../registry/registry.ts";
import type { AgentSession } from "./agent-session.ts";
import type { SchemaChecks } from "./schema-checks.ts";
import { givenOf, readAll } from "./input-check.ts";

/** How many of the agents that offer it are considered. */
const LOOKED_AT = 20;
/** The budget of input checks here: the result is for people, and decides nothing. */
const STEPS = SCHEMA_LIMITS.querySteps / 10;
const NAMES_SHOWN = 3;

/** The most informative reasons first. */
const WHYS: readonly WaitReason[] = [
  "input",
  "terms",
  "rejected",
  "busy",
  "away",
  "session",
  "next",
];

export interface WhyWaitingOptions {
  readonly registry: Registry;
  readonly access: Access;
  readonly agentSessions: ReadonlyMap<string, AgentSession>;
  readonly checks: SchemaChecks;
}

/** Why a handoff waits, by the agents that offer its capability: the most informative first. */
export async function whyWaiting(
  { registry, access, agentSessions, checks }: WhyWaitingOptions,
  record: HandoffRecord,
  handoff: HandoffEnvelope,
  now: number,
): Promise<readonly WaitsFor[]> {
  const { state, capability, session } = record;
  const only = state.resumes?.recipient ?? state.recipient;
  const asker = askerOfRecord(record);
  const offered =
    only === null
      ? (await registry.offered.first(capability, await access.audiencesOf(asker))).slice(
          0,
          LOOKED_AT,
        )
      : await registry.offered.of(only, capability);
  if (only !== null && offered.length === 0) {
    const reason = (await registry.isRetired(only))
      ? "was retired by an operator"
      : `does not offer ${capability} any more`;
    return [{ agent_id: only, why: "terms", reason }];
  }
  if (
    only !== null &&
    (await access.permitted(wantedOf(offered, handoff.body), asker)).length === 0
  ) {
    const reason = `does not take ${capability} from ${asker.agent} any more`;
    return [{ agent_id: only, why: "terms", reason }];
  }
  const candidates = (await readAll(offered, registry, now)) ?? [];
  const against = [
    rejections(record),
    await inputReasons(handoff, candidates, checks),
    termReasons(handoff, candidates, now),
  ];
  const closest = new Map<string, WaitsFor>();
  for (const each of offered) {
    const found = against.flatMap(
      (reasons) => reasons.get(keyOf(each)) ?? reasons.get(each.agent) ?? [],
    );
    const here = presence(each, agentSessions.get(each.agent));
    const why = found[0] ?? behindHolder(here, session?.awaits) ?? here;
    const before = closest.get(each.agent);
    // Of several versions the one counts that comes closest to taking it.
    if (before === undefined || rankOf(before) < rankOf(why)) closest.set(each.agent, why);
  }
  return [...closest.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

/** The most informative reason as a sentence; undefined if there is none. */
export function waitText(waits: readonly WaitsFor[]): string | undefined {
  const [first] = waits;
  if (first === undefined || first.why === "next") return undefined;
  const alike = waits.filter(({ why }) => why === first.why);
  const more = alike.length - NAMES_SHOWN;
  const named = alike.slice(0, NAMES_SHOWN).map(({ agent_id, reason }) => `${agent_id} ${reason}`);
  return `${named.join("; ")}${more > 0 ? `; ${more} more in the same way` : ""}`;
}

type Reasons = ReadonlyMap<string, WaitsFor>;

function rankOf({ why }: WaitsFor): number {
  return WHYS.indexOf(why);
}

function keyOf({ agent, version }: Pick<OfferedCapability, "agent" | "version">): string {
  return `${agent} ${version}`;
}

function rejections({ state }: HandoffRecord): Reasons {
  const rejected = state.attempts.filter(({ closed }) => closed === "rejected");
  return new Map(
    rejected.map(({ recipient, status }) => [
      recipient,
      { agent_id: recipient, why: "rejected", reason: `has rejected it with ${status}` },
    ]),
  );
}

async function inputReasons(
  handoff: HandoffEnvelope,
  candidates: readonly Candidate[],
  checks: SchemaChecks,
): Promise<Reasons> {
  const given = givenOf(handoff);
  const budget = { stepsLeft: STEPS };
  const verdicts: InputVerdicts = new Map();
  const reasons = new Map<string, WaitsFor>();
  for (const candidate of candidates) {
    const slices = judgeInSlices(given, [candidate], { budget, verdicts });
    const { refusals } = await checks.run(handoff.from, budget, slices);
    for (const { agent_id, version, issues } of refusals) {
      const reason = `refuses the input: ${issuesText(issues)}`;
      reasons.set(keyOf({ agent: agent_id, version }), { agent_id, why: "input", reason });
    }
  }
  return reasons;
}

function termReasons(
  { to, body }: HandoffEnvelope,
  candidates: readonly Candidate[],
  now: number,
): Reasons {
  if (typeof to === "string") return new Map();
  const query = queryOf(to, { within: body.contract?.timeout_seconds });
  return new Map(
    findCandidates(query, candidates, now).leftOut.map(({ agent_id, version, reasons }) => [
      keyOf({ agent: agent_id, version }),
      { agent_id, why: "terms", reason: `is left out: ${reasons.join("; ")}` },
    ]),
  );
}

/** A capable agent that comes after the holder of its session for a while. */
function behindHolder(
  { agent_id, why }: WaitsFor,
  awaited: string | undefined,
): WaitsFor | undefined {
  if (awaited === undefined || awaited === agent_id || why !== "next") return undefined;
  const reason = `has room for it, but it waits for ${awaited}, which holds its session`;
  return { agent_id, why: "session", reason };
}

function presence(
  { agent: agent_id, name, terms }: OfferedCapability,
  here: AgentSession | undefined,
): WaitsFor {
  if (here === undefined) return { agent_id, why: "away", reason: "is not connected" };
  if (here.roomFor(name, terms.concurrency) > 0) {
    return { agent_id, why: "next", reason: "has room for it" };
  }
  return { agent_id, why: "busy", reason: `has no room: it works on ${here.heldCount}` };
}
