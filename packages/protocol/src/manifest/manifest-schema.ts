import * as z from "zod";
import type { ZodError } from "zod";
import { AGENT_ID } from "./agent-id.ts";
import { capabilitySchema, MANIFEST_LIMITS } from "./capability.ts";
import type { Capability, Effects, Example, Takes } from "./capability.ts";
import type { TakesFrom } from "./takes-from.ts";
import { isDigest } from "../signing/digest.ts";
import type { Digest } from "../signing/digest.ts";
import { WaybillError } from "../error.ts";
import { lazy } from "../lazy.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import type { Json } from "../json/json.ts";
import { publicKeyFrom } from "../signing/key.ts";
import type { PublicJwk, PublicKey } from "../signing/key.ts";
import { compileSchema, normalizeSchema, schemaAllowance } from "../schema/schema.ts";
import type { CompileOptions, SchemaAllowance } from "../schema/schema.ts";
import { fromSchemaError } from "../envelope/schema-error.ts";
import { isTime, parseTime } from "../time.ts";

/** When a key may be used. `retired_at` ends it early, and permanently for new messages. */
export interface KeyValidity {
  not_before?: string | undefined;
  not_after?: string | undefined;
  retired_at?: string | undefined;
}

/** A key in a manifest, with its period of validity. */
export interface ManifestKey extends PublicJwk, KeyValidity {
  kid: string;
  /** A recovery key signs recoveries and nothing else. Absent for every other key. */
  use?: "recovery" | undefined;
  /** Proof that the agent holds it: a signature by the key itself, as made by `provenKey`. */
  proof?: string | undefined;
}

/** An agent's description of itself, with every default filled in and every schema normalised. */
export interface Manifest {
  agent_id: string;
  version?: string | undefined;
  description?: string | undefined;
  capabilities: Capability[];
  discovery_endpoint?: string | undefined;
  /** Where the hub posts the agent's deliveries, for an agent that only listens. */
  inbox?: string | undefined;
  keys: ManifestKey[];
  /** Increases by one with each update. */
  sequence: number;
  /** Digest of the previous manifest; absent only in the first one. */
  previous?: Digest | undefined;
  /** The signature of the previous manifest's recovery key, as made by `signRecovery`. */
  recovery?: string | undefined;
}

/** A capability as an author writes it: a name suffices. Schemas may be in shorthand. */
export interface CapabilityInput {
  name: string;
  version?: string | undefined;
  description?: string | undefined;
  tags?: readonly string[] | undefined;
  examples?: readonly Example[] | undefined;
  takes?: Takes | undefined;
  input_schema?: unknown;
  output_schema?: unknown;
  effects?: Effects | undefined;
  timeout_seconds?: number | undefined;
  lease_seconds?: number | undefined;
  max_attempts?: number | undefined;
  concurrency?: number | undefined;
  max_input_bytes?: number | undefined;
  reliability_sla?: number | undefined;
  /** From whom it takes work, by default from everybody. */
  from?: TakesFrom | undefined;
  [member: string]: unknown;
}

/** A manifest as an author writes it. Unknown members stay in the signed bytes. */
export interface ManifestInput {
  agent_id: string;
  version?: string | undefined;
  description?: string | undefined;
  capabilities: readonly CapabilityInput[];
  discovery_endpoint?: string | undefined;
  inbox?: string | undefined;
  keys?: readonly (Omit<ManifestKey, "kid"> & { kid?: string | undefined })[] | undefined;
  sequence?: number | undefined;
  previous?: Digest | undefined;
  recovery?: string | undefined;
  [member: string]: unknown;
}

/** A manifest and its keys, ready to verify with. */
export interface ReadManifest {
  readonly manifest: Manifest;
  /** Every key that it lists, including the recovery key. */
  readonly keys: ReadonlyMap<string, PublicKey>;
  readonly recovery: PublicKey | undefined;
}

/** A key as it arrived: its JWK is checked when it is enrolled. */
interface GivenKey extends KeyValidity {
  kid?: string | undefined;
  use?: "sig" | "recovery" | undefined;
  proof?: string | undefined;
  [member: string]: unknown;
}

const manifestSchema = lazy(() => {
  const time = z.string().refine(isTime, "must be a UTC time such as 2026-11-18T07:45:00Z");

  // Only the syntax: whether the address may be reached is decided on connecting.
  const address = z
    .string()
    .max(MANIFEST_LIMITS.urlLength)
    .regex(/^https?:\/\/[!-~]+$/, "must be an http or https URL in ASCII")
    .pipe(z.url("must be a URL"));
  const description = z.string().max(MANIFEST_LIMITS.descriptionLength);
  const keySchema: z.ZodType<GivenKey> = z.looseObject({
    kid: z.string().optional(),
    use: z.enum(["sig", "recovery"]).optional(),
    not_before: time.optional(),
    not_after: time.optional(),
    retired_at: time.optional(),
    proof: z.string().optional(),
  });

  return z.object({
    waybill: z.literal(1).optional(),
    kind: z.literal("manifest").optional(),
    agent_id: z
      .string()
      .regex(
        AGENT_ID,
        "must be 1 to 128 of a-z 0-9 . - _ and start and end with a letter or digit",
      ),
    version: z.string().min(1).max(MANIFEST_LIMITS.labelLength).optional(),
    description: description.optional(),
    capabilities: z.array(capabilitySchema()).max(MANIFEST_LIMITS.capabilities),
    discovery_endpoint: address.optional(),
    inbox: address.optional(),
    keys: z.array(keySchema).max(MANIFEST_LIMITS.keys).default([]),
    sequence: z.int().min(1).default(1),
    previous: z.custom<Digest>(isDigest, "must be sha256: and 64 hex digits").optional(),
    recovery: z.string().optional(),
  });
});

/**
 * Reads a manifest, such as the founding document's. Refuses it with the place and the rule; unknown
 * members are ignored.
 */
export function parseManifest(value: unknown): Manifest {
  return readManifest(parseJson(stringifyJson(value))).manifest;
}

/** How the schemas of a manifest are treated: `known` if they were checked before. */
export type SchemaHandling = "check" | "known";

/** The same for a value from `parseJson`, with the keys enrolled. */
export function readManifest(
  value: Json,
  schemas: SchemaHandling = "check",
  allowance: SchemaAllowance = schemaAllowance(),
): ReadManifest {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new WaybillError(400, "A manifest must be a JSON object; this is not one.", { at: "" });
  }
  const parsed = manifestSchema().safeParse(value);
  if (!parsed.success) {
    throw fromSchemaError(parsed.error, "The manifest", isTooLarge(parsed.error) ? 413 : 400);
  }
  const { waybill: _waybill, kind: _kind, keys: givenKeys, ...rest } = parsed.data;
  if ((rest.sequence === 1) !== (rest.previous === undefined)) {
    throw refused(
      400,
      rest.sequence === 1
        ? "its sequence is 1, so there is no previous manifest; leave previous out, or increase the sequence"
        : `its sequence is ${rest.sequence}, so previous must hold the digest of number ${rest.sequence - 1}`,
      "/previous",
    );
  }
  if (rest.recovery !== undefined && rest.previous === undefined) {
    throw refused(400, "there is no previous manifest whose recovery key could sign", "/recovery");
  }
  const capabilities = rest.capabilities.map((each, index) => withSchemas(each, index, allowance));
  if (schemas === "check") {
    for (const _ of checkSchemas(capabilities, { allowance })) {
      // A caller with other work to do runs it in slices.
    }
  }
  refuseDuplicateCapabilities(capabilities);
  refuseTooManyNames(capabilities);
  const keys = new Map<string, PublicKey>();
  const listed = givenKeys.map((given, index) => {
    const key = enrolled(given, `/keys/${index}`);
    if (keys.has(key.kid)) {
      throw refused(400, `the key ${key.kid} is listed twice`, `/keys/${index}`);
    }
    keys.set(key.kid, key);
    return manifestKey(given, key, `/keys/${index}`);
  });
  const recovery = recoveryKeyOf(listed);
  return {
    manifest: { ...rest, capabilities, keys: listed },
    keys,
    recovery: recovery && keys.get(recovery.kid),
  };
}

function withSchemas(
  capability: Capability,
  index: number,
  allowance: SchemaAllowance,
): Capability {
  const normalized = { ...capability };
  for (const member of SCHEMA_MEMBERS) {
    normalized[member] = atSchema(capability, member, index, () =>
      normalizeSchema(capability[member], allowance),
    );
  }
  return normalized;
}

const SCHEMA_MEMBERS = ["input_schema", "output_schema"] as const;

/**
 * Checks the schemas of one manifest, in slices of one schema each, none of which takes longer than a
 * check of a value. Their sum is bounded, too: 413 if they are too large together.
 */
export function* checkSchemas(
  capabilities: readonly Capability[],
  { budget, allowance = schemaAllowance() }: CompileOptions = {},
): Generator<void, void> {
  for (const [index, capability] of capabilities.entries()) {
    for (const member of SCHEMA_MEMBERS) {
      atSchema(capability, member, index, () =>
        compileSchema(capability[member], {}, { budget, allowance }),
      );
      yield;
    }
  }
}

/** Adds to an error in a schema which schema it is. */
function atSchema<Result>(
  { name }: Capability,
  member: (typeof SCHEMA_MEMBERS)[number],
  index: number,
  read: () => Result,
): Result {
  try {
    return read();
  } catch (error) {
    const { status, message, at } = WaybillError.from(error, 400);
    throw new WaybillError(status, `The ${member} of ${name} is refused: ${message}`, {
      at: `/capabilities/${index}/${member}${at ?? ""}`,
      cause: error,
    });
  }
}

function refuseDuplicateCapabilities(capabilities: readonly Capability[]): void {
  const seen = new Set<string>();
  capabilities.forEach(({ name, version }, index) => {
    // No name contains a space, so different pairs can't collide.
    const twin = `${name} ${version}`;
    if (seen.has(twin)) {
      throw refused(
        400,
        `it offers ${name} in version ${version} twice; give the second one another version`,
        `/capabilities/${index}`,
      );
    }
    seen.add(twin);
  });
}

function refuseTooManyNames(capabilities: readonly Capability[]): void {
  let names = 0;
  capabilities.forEach(({ from: { agents = [], keys = [], groups = [] } = {} }, index) => {
    names += agents.length + keys.length + groups.length;
    if (names <= MANIFEST_LIMITS.namesInFrom) return;
    throw refused(
      413,
      `its capabilities name more than ${MANIFEST_LIMITS.namesInFrom} agents, keys and groups in from in total; name groups, which the hub's operator manages`,
      `/capabilities/${index}/from`,
    );
  });
}

function enrolled(given: GivenKey, at: string): PublicKey {
  let key: PublicKey;
  try {
    key = publicKeyFrom(given);
  } catch (error) {
    const { status, message, at: inside } = WaybillError.from(error, 401);
    throw new WaybillError(status, `A key of the manifest is refused: ${message}`, {
      at: `${at}${inside ?? ""}`,
      cause: error,
    });
  }
  if (given.kid !== undefined && given.kid !== key.kid) {
    throw refused(
      400,
      `a key has a kid other than ${key.kid}, its RFC 7638 thumbprint; correct it or leave it out`,
      `${at}/kid`,
    );
  }
  return key;
}

function recoveryKeyOf(listed: readonly ManifestKey[]): ManifestKey | undefined {
  const [index, second] = Array.from(listed.keys()).filter(
    (each) => listed[each]!.use === "recovery",
  );
  if (second !== undefined) {
    throw refused(400, "it lists two recovery keys, but there may be only one", `/keys/${second}`);
  }
  const key = index === undefined ? undefined : listed[index];
  // Otherwise the thief of a signing key could retire it.
  if (
    key?.not_before !== undefined ||
    key?.not_after !== undefined ||
    key?.retired_at !== undefined
  ) {
    throw refused(
      400,
      "its recovery key has a validity period; a recovery key is valid until its own signature removes it",
      `/keys/${index}`,
    );
  }
  return key;
}

function manifestKey(
  { use, not_before, not_after, retired_at, proof }: GivenKey,
  key: PublicKey,
  at: string,
): ManifestKey {
  if (
    not_before !== undefined &&
    not_after !== undefined &&
    parseTime(not_after)! <= parseTime(not_before)!
  ) {
    throw refused(400, "a key's not_after is not later than its not_before", `${at}/not_after`);
  }
  return {
    kid: key.kid,
    ...key.jwk,
    ...(use === "recovery" && { use }),
    ...(not_before !== undefined && { not_before }),
    ...(not_after !== undefined && { not_after }),
    ...(retired_at !== undefined && { retired_at }),
    ...(proof !== undefined && { proof }),
  };
}

function isTooLarge(error: ZodError): boolean {
  const issue = error.issues[0];
  return issue?.code === "too_big" && (issue.origin === "string" || issue.origin === "array");
}

function refused(status: 400 | 401 | 413, reason: string, at: string): WaybillError {
  return new WaybillError(status, `The manifest is refused: ${reason}.`, { at });
}
