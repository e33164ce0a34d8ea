import type { BoundContract } from "./contract.ts";
import { WaybillError } from "../error.ts";
import type { Json } from "../json/json.ts";
import { LIMITS } from "../limits.ts";
import { compileSchema, SCHEMA_LIMITS } from "../schema/schema.ts";
import type { CompiledSchema } from "../schema/schema.ts";
import type { StatusCode } from "../status.ts";
import type { CloseReason } from "../lifecycle/transitions.ts";
import { isMoreMoney } from "../usage/money.ts";
import { totalUsage } from "../usage/usage.ts";
import type { Usage } from "../usage/usage.ts";

/** What the record says about one attempt. Times are in milliseconds. */
export interface AttemptFacts {
  readonly attempt: number;
  readonly recipient: string;
  /** Null if it was never accepted: then no contract was bound. */
  readonly acceptedAt: number | null;
  /** When its attempt was closed, or now. */
  readonly endedAt: number;
  /** How long a question was open: that time is the delegator's, not the recipient's. */
  readonly waitedMs?: number | undefined;
  readonly closed?: CloseReason | undefined;
  readonly status?: StatusCode | undefined;
  readonly output?: Json | undefined;
  readonly outputBytes?: number | undefined;
  /** What the recipient has reported as used. */
  readonly usage?: Usage | undefined;
}

/** The facts about a handoff for the check of its contract. */
export interface HandoffFacts {
  readonly delegator: string;
  readonly inputBytes?: number | undefined;
  /** According to the manifest. */
  readonly maxInputBytes?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
  readonly attempts: readonly AttemptFacts[];
}

/** One breach of a contract: by whom, in which attempt, and by how much. */
export interface Breach {
  readonly by: string;
  readonly term:
    | "timeout_seconds"
    | "lease_seconds"
    | "output_schema"
    | "output_bytes"
    | "max_tokens"
    | "max_cost"
    | "max_input_bytes";
  /** Null for a breach that concerns no attempt. */
  readonly attempt: number | null;
  readonly reason: string;
}

/** The breaches of a contract, in the order in which they happened. Pure: the record decides. */
export function breaches(contract: BoundContract, facts: HandoffFacts): Breach[] {
  const { delegator, inputBytes = 0, maxInputBytes = Infinity } = facts;
  const found: Breach[] = [];
  if (inputBytes > maxInputBytes) {
    const reason = `the input has ${inputBytes} bytes, and the manifest takes ${maxInputBytes}`;
    found.push({ by: delegator, term: "max_input_bytes", attempt: null, reason });
  }
  const outputs = outputCheck(contract.output_schema);
  for (const attempt of facts.attempts) {
    if (attempt.acceptedAt === null) continue;
    const by = { by: attempt.recipient, attempt: attempt.attempt };
    for (const [term, reasonOf] of PROMISES) {
      const reason = reasonOf({
        attempt,
        acceptedAt: attempt.acceptedAt,
        contract,
        facts,
        outputs,
      });
      if (reason !== undefined) found.push({ ...by, term, reason });
    }
  }
  return found;
}

interface Case {
  readonly attempt: AttemptFacts;
  readonly acceptedAt: number;
  readonly contract: BoundContract;
  readonly facts: HandoffFacts;
  readonly outputs: OutputCheck;
}

type Promised = (of: Case) => string | undefined;

/** What a recipient agrees to when it accepts, and how the record shows a breach of it. */
const PROMISES: readonly (readonly [Breach["term"], Promised])[] = [
  [
    "timeout_seconds",
    ({ attempt: { endedAt, waitedMs = 0 }, acceptedAt, contract: { timeout_seconds } }) => {
      const seconds = (endedAt - acceptedAt - waitedMs) / 1000;
      return seconds > timeout_seconds
        ? `it took ${seconds} s, and ${timeout_seconds} were agreed`
        : undefined;
    },
  ],
  [
    "lease_seconds",
    ({ attempt: { closed }, contract: { lease_seconds } }) =>
      closed === "lease_lost" ? `it was silent for more than ${lease_seconds} s` : undefined,
  ],
  [
    "output_bytes",
    ({ attempt: { outputBytes = 0 }, facts: { maxOutputBytes = LIMITS.envelopeBytes } }) => {
      return outputBytes > maxOutputBytes
        ? `the output has ${outputBytes} bytes, and ${maxOutputBytes} are allowed`
        : undefined;
    },
  ],
  [
    "max_tokens",
    ({ attempt: { usage }, contract: { max_tokens = Infinity } }) => {
      const { input_tokens, output_tokens } = totalUsage(usage);
      const tokens = input_tokens + output_tokens;
      return tokens > max_tokens
        ? `it used ${tokens} tokens, and ${max_tokens} were agreed`
        : undefined;
    },
  ],
  [
    "max_cost",
    ({ attempt: { usage }, contract: { max_cost } }) => {
      if (max_cost === undefined) return undefined;
      const over = totalUsage(usage).costs.find((cost) => isMoreMoney(cost, max_cost) === true);
      return over === undefined
        ? undefined
        : `it cost ${over.amount} ${over.currency}, and ${max_cost.amount} were agreed`;
    },
  ],
  [
    "output_schema",
    ({ attempt: { output, status }, outputs }) => {
      if (status === 520) return "its output was refused: it was empty or broke its schema";
      return status === 200 ? outputs(output) : undefined;
    },
  ],
];

/** What is wrong with an output. The outputs of all attempts share one budget. */
type OutputCheck = (output: Json | undefined) => string | undefined;

function outputCheck(schema: Json): OutputCheck {
  const budget = { stepsLeft: SCHEMA_LIMITS.querySteps };
  let compiled: CompiledSchema | undefined;
  return (output) => {
    // Without a schema, messages or artifacts may be the whole result.
    if (output === undefined) {
      return isOpen(schema) ? undefined : "it reported success without an output";
    }
    try {
      compiled ??= compileSchema(schema, {}, { budget });
      const [issue] = compiled.check(output, budget);
      if (issue === undefined) return undefined;
      return `the output breaks its schema${issue.at && ` at ${issue.at}`}: ${issue.message}`;
    } catch (error) {
      return `the output can't be checked: ${WaybillError.from(error).message}`;
    }
  };
}

function isOpen(schema: Json): boolean {
  if (typeof schema !== "object" || schema === null) return schema === true;
  return Object.keys(schema).every((name) => name === "$schema");
}
