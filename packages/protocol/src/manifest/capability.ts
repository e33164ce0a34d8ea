import * as z from "zod";
import { DEFAULT_TERMS } from "../lifecycle/handoff.ts";
import type { Json } from "../json/json.ts";
import { lazy } from "../lazy.ts";
import { LIMITS } from "../limits.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { AGENT_ID } from "./agent-id.ts";
import type { TakesFrom } from "./takes-from.ts";

export const CAPABILITY_NAME: RegExp = /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$/;

/** The spelling of an RFC 7638 thumbprint. */
const THUMBPRINT: RegExp = /^[A-Za-z0-9_-]{43}$/;

/** A valid group name: like an agent id, in at most 64 characters. */
export const GROUP_NAME: RegExp = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/** Whether a value is a valid group name. */
export function isGroupName(value: unknown): value is string {
  return typeof value === "string" && GROUP_NAME.test(value);
}

/** Whether a value is a valid capability name. */
export function isCapabilityName(value: unknown): value is string {
  return typeof value === "string" && CAPABILITY_NAME.test(value);
}

/** Which of the three forms of a handoff's body it reads. */
export type Takes = "structured" | "conversation" | "delegation";

/** Whether an attempt has effects outside: `none`, `possible` even if it fails, `done` by each success. */
export type Effects = "none" | "possible" | "done";

/** An example of its input and output. */
export interface Example {
  description?: string | undefined;
  input?: Json | undefined;
  output?: Json | undefined;
}

/** Something that an agent can do, with every default filled in. */
export interface Capability {
  name: string;
  version: string;
  description?: string | undefined;
  tags: string[];
  examples: Example[];
  takes: Takes;
  input_schema: JsonSchema;
  output_schema: JsonSchema;
  effects: Effects;
  /** The longest time from acceptance to result. */
  timeout_seconds: number;
  /** The longest silence while it works. */
  lease_seconds: number;
  /** The most attempts at one handoff. */
  max_attempts: number;
  /**
   * How many handoffs of this capability it works on at once. By default only its credit decides,
   * which counts those of all its capabilities.
   */
  concurrency?: number | undefined;
  max_input_bytes: number;
  /** The success rate that it claims, from 0 to 1. */
  reliability_sla: number;
  /** From whom it takes work, by default from everybody. */
  from?: TakesFrom | undefined;
}

/** The defaults of a manifest. An agent that claims no reliability claims 0. */
export const CAPABILITY_DEFAULTS: Readonly<
  Omit<Capability, "name" | "description" | "concurrency" | "from">
> = {
  version: "1",
  tags: [],
  examples: [],
  takes: "structured",
  input_schema: {},
  output_schema: {},
  effects: "possible",
  timeout_seconds: 300,
  lease_seconds: DEFAULT_TERMS.leaseMs / 1000,
  max_attempts: DEFAULT_TERMS.maxAttempts,
  max_input_bytes: LIMITS.envelopeBytes,
  reliability_sla: 0,
};

/** The limits of one manifest. Lengths are in characters. */
export const MANIFEST_LIMITS = {
  capabilities: 256,
  // Enrolling a key costs a millisecond, and a stranger decides how many there are.
  keys: 16,
  tags: 64,
  examples: 32,
  labelLength: 128,
  descriptionLength: 8192,
  urlLength: 2048,
  agentsInFrom: 32,
  keysInFrom: 16,
  groupsInFrom: 16,
  /** Over all capabilities: a hub indexes each of them by its audiences. */
  namesInFrom: 1024,
} as const;

/** The largest terms that a contract may name. */
export const TERM_LIMITS: {
  readonly timeoutSeconds: number;
  readonly leaseSeconds: number;
  readonly attempts: number;
} = {
  timeoutSeconds: LIMITS.deadlineAheadMs / 1000,
  leaseSeconds: 86_400,
  attempts: 32,
};

/** The wire form with its defaults; the two schemas are not processed yet. */
export const capabilitySchema: () => z.ZodType<Capability> = lazy(() => {
  const label = z.string().min(1).max(MANIFEST_LIMITS.labelLength);
  const description: z.ZodType<string> = z.string().max(MANIFEST_LIMITS.descriptionLength);
  // The schema reader normalises and bounds the content, and describes faults better.
  const schema = z.unknown() as z.ZodType<JsonSchema>;
  const json = z.unknown() as z.ZodType<Json>;
  const agent = z.string().regex(AGENT_ID, "must be an agent id: a-z, 0-9 and inner . _ -");
  const fromSchema: z.ZodType<TakesFrom> = z
    .object({
      agents: z.array(agent).max(MANIFEST_LIMITS.agentsInFrom).optional(),
      keys: z
        .array(z.string().regex(THUMBPRINT, "must be the thumbprint of a key"))
        .max(MANIFEST_LIMITS.keysInFrom)
        .optional(),
      groups: z
        .array(
          z
            .string()
            .regex(GROUP_NAME, "must be the name of a group: 1 to 64 of a-z, 0-9 and inner . _ -"),
        )
        .max(MANIFEST_LIMITS.groupsInFrom)
        .optional(),
    })
    .refine(
      ({ agents = [], keys = [], groups = [] }) => agents.length + keys.length + groups.length > 0,
      "must name an agent, a key or a group; to take work from everybody, leave it out",
    );

  return z.object({
    name: z
      .string()
      .regex(
        CAPABILITY_NAME,
        "must be 1 to 128 of A-Z a-z 0-9 _ . : / - and start with none of . : / -",
      ),
    version: label.default(CAPABILITY_DEFAULTS.version),
    description: description.optional(),
    tags: z.array(label).max(MANIFEST_LIMITS.tags).default([]),
    examples: z
      .array(
        z.object({
          description: description.optional(),
          input: json.optional(),
          output: json.optional(),
        }),
      )
      .max(MANIFEST_LIMITS.examples)
      .default([]),
    takes: z.enum(["structured", "conversation", "delegation"]).default(CAPABILITY_DEFAULTS.takes),
    input_schema: schema.default(CAPABILITY_DEFAULTS.input_schema),
    output_schema: schema.default(CAPABILITY_DEFAULTS.output_schema),
    effects: z.enum(["none", "possible", "done"]).default(CAPABILITY_DEFAULTS.effects),
    timeout_seconds: z
      .number()
      .positive()
      .max(TERM_LIMITS.timeoutSeconds)
      .default(CAPABILITY_DEFAULTS.timeout_seconds),
    lease_seconds: z
      .number()
      .positive()
      .max(TERM_LIMITS.leaseSeconds)
      .default(CAPABILITY_DEFAULTS.lease_seconds),
    max_attempts: z
      .int()
      .min(1)
      .max(TERM_LIMITS.attempts)
      .default(CAPABILITY_DEFAULTS.max_attempts),
    concurrency: z.int().min(1).optional(),
    max_input_bytes: z.int().min(1).default(CAPABILITY_DEFAULTS.max_input_bytes),
    reliability_sla: z.number().min(0).max(1).default(CAPABILITY_DEFAULTS.reliability_sla),
    from: fromSchema.optional(),
  });
});

type VersionRule = (offered: readonly number[], wanted: readonly number[]) => boolean;

/**
 * The syntax of a requested version. `1` is any 1.x and `1.2` any 1.2.x; `^1.2` is 1.x from 1.2 on;
 * `>=1.2` has no upper end. Only versions of plain numbers are compared: any other one, such as the
 * pre-release `2.0-rc.1`, is matched exactly.
 */
const VERSION_RULES: Readonly<Record<"" | "^" | ">=", VersionRule>> = {
  "": (offered, wanted) => wanted.every((part, index) => (offered[index] ?? 0) === part),
  "^": (offered, wanted) => offered[0] === wanted[0] && compareParts(offered, wanted) >= 0,
  ">=": (offered, wanted) => compareParts(offered, wanted) >= 0,
};

const WANTED_VERSION = /^(|\^|>=)(\d{1,9}(?:\.\d{1,9}){0,7})$/;

/**
 * Whether an offered version matches a requested one: `1.2` matches 1.2 and 1.2.x, `^1.2` the same
 * major version from 1.2 on, and `>=1.2` any from 1.2 on.
 */
export function matchesVersion(offered: string, wanted: string): boolean {
  if (offered === wanted) return true;
  const [, rule, version] = WANTED_VERSION.exec(wanted) ?? [];
  const parts = numbersOf(offered);
  if (version === undefined || parts === undefined) return false;
  return VERSION_RULES[rule as keyof typeof VERSION_RULES](parts, numbersOf(version)!);
}

/** Negative if `a` is the older one. Versions that are not numbers come before all that are. */
export function compareVersions(a: string, b: string): number {
  const left = numbersOf(a);
  const right = numbersOf(b);
  if (left !== undefined && right !== undefined) return compareParts(left, right);
  if (left === undefined && right === undefined) return a < b ? -1 : a > b ? 1 : 0;
  return left === undefined ? -1 : 1;
}

function numbersOf(version: string): number[] | undefined {
  return /^\d{1,9}(?:\.\d{1,9}){0,7}$/.test(version) ? version.split(".").map(Number) : undefined;
}

function compareParts(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
