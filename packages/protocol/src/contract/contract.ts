import type { Capability } from "../manifest/capability.ts";
import { WaybillError } from "../error.ts";
import { isMoreMoney } from "../usage/money.ts";
import type { Money } from "../usage/money.ts";
import { DEFAULT_TERMS } from "../lifecycle/handoff.ts";
import type { LifecycleTerms } from "../lifecycle/handoff.ts";
import type { Json } from "../json/json.ts";
import { compileSchema, normalizeSchema } from "../schema/schema.ts";

/** The terms that both sides agree on. A missing term is as in the recipient's manifest. */
export interface Contract {
  timeout_seconds?: number | undefined;
  lease_seconds?: number | undefined;
  max_attempts?: number | undefined;
  /** Input and output tokens that an attempt may use, including its children. */
  max_tokens?: number | undefined;
  /** What an attempt may cost, including its children. */
  max_cost?: Money | undefined;
  /** A schema for the result that is stricter than the manifest's, possibly in shorthand. */
  output_schema?: Json | undefined;
}

/** A contract with every term filled in. */
export interface BoundContract extends Contract {
  timeout_seconds: number;
  lease_seconds: number;
  max_attempts: number;
  output_schema: Json;
}

type NumericTerm = "timeout_seconds" | "lease_seconds" | "max_attempts";

interface TermRule {
  /** The direction in which the recipient can give way: it can always accept more time, or fewer attempts. */
  readonly recipientNeeds: "at_least" | "at_most";
  readonly unit: string;
}

const TERM_RULES: Readonly<Record<NumericTerm, TermRule>> = {
  timeout_seconds: { recipientNeeds: "at_least", unit: "s for the work" },
  lease_seconds: { recipientNeeds: "at_least", unit: "s of silence" },
  max_attempts: { recipientNeeds: "at_most", unit: "attempts" },
};
const TERMS = Object.keys(TERM_RULES) as NumericTerm[];

/** What a manifest promises, as a contract. */
export function termsOf(capability: Capability): BoundContract {
  const { timeout_seconds, lease_seconds, max_attempts, output_schema } = capability;
  return { timeout_seconds, lease_seconds, max_attempts, output_schema: output_schema as Json };
}

/**
 * The contract that an acceptance binds: the offer, and the manifest where the offer says nothing.
 * Throws for an unusable output schema, which has to be refused before it is bound.
 */
export function effectiveContract(
  offer: Contract | undefined,
  capability: Capability,
): BoundContract {
  const terms = termsOf(capability);
  return {
    timeout_seconds: offer?.timeout_seconds ?? terms.timeout_seconds,
    lease_seconds: offer?.lease_seconds ?? terms.lease_seconds,
    max_attempts: offer?.max_attempts ?? terms.max_attempts,
    output_schema:
      offer?.output_schema === undefined ? terms.output_schema : readSchema(offer.output_schema),
    ...capsOf(offer),
  };
}

/** A recipient's answer to the terms of an offer: accept, counter, or reject. */
export type OfferVerdict =
  | { readonly verdict: "accept" }
  | { readonly verdict: "counter"; readonly contract: BoundContract; readonly reason: string }
  | { readonly verdict: "reject"; readonly reason: string };

/** What a recipient can do about an offer besides accepting it. */
export interface OfferLimits {
  /** Whether this recipient can produce output by a schema that is not its own. */
  readonly takesOutputSchema?: boolean | undefined;
  /** Whether it has countered this work before: a second counter-offer is not allowed. */
  readonly hasCountered?: boolean | undefined;
}

/** The recipient's answer to an offer, against the terms of its manifest. */
export function judgeOffer(
  offer: Contract | undefined,
  terms: BoundContract,
  { takesOutputSchema = false, hasCountered = false }: OfferLimits = {},
): OfferVerdict {
  if (offer === undefined) return { verdict: "accept" };
  const unusable = faultOfSchema(offer.output_schema);
  if (unusable !== undefined) return { verdict: "reject", reason: unusable };
  const contract = { ...terms, ...capsOf(offer) };
  const reasons: string[] = [];
  for (const term of TERMS) {
    const offered = offer[term];
    if (offered === undefined) continue;
    if (isEnough(term, offered, terms[term])) contract[term] = offered;
    else reasons.push(shortfall(term, offered, terms[term]));
  }
  const { output_schema } = offer;
  if (output_schema !== undefined && !isSameSchema(output_schema, terms.output_schema)) {
    if (takesOutputSchema) contract.output_schema = output_schema;
    else reasons.push("the output has the form that the manifest gives, and no other");
  }
  if (reasons.length === 0) return { verdict: "accept" };
  const reason = reasons.join("; ");
  return hasCountered
    ? {
        verdict: "reject",
        reason: `${reason}; a counter-offer was made before, and there is only one`,
      }
    : { verdict: "counter", contract, reason };
}

/** Whether a delegator accepts a counter-offer. */
export type CounterVerdict =
  | { readonly verdict: "accept"; readonly contract: Contract }
  | { readonly verdict: "reject"; readonly reason: string };

/**
 * The delegator's answer to a counter-offer: accept, to be offered again with exactly these terms, or
 * reject. `tolerance` limits how far it gives way. Where the tolerance says nothing it insists on its
 * offer, and where the offer says nothing either it accepts anything.
 */
export function judgeCounter(
  counter: Contract,
  offer: Contract | undefined,
  tolerance: Contract = {},
): CounterVerdict {
  const reasons: string[] = [];
  for (const term of TERMS) {
    const limit = tolerance[term] ?? offer?.[term];
    const countered = counter[term];
    if (limit === undefined || countered === undefined) continue;
    // The delegator's side of the same rule: beyond its limit the recipient gets no more.
    if (!isEnough(term, limit, countered)) reasons.push(shortfall(term, limit, countered));
  }
  reasons.push(...faultsOfCaps(counter, { ...capsOf(offer), ...capsOf(tolerance) }));
  const unusable = faultOfSchema(counter.output_schema);
  if (unusable !== undefined) reasons.push(unusable);
  else if (!isWantedForm(counter.output_schema, [offer?.output_schema, tolerance.output_schema])) {
    reasons.push("the output would not have the form that was asked for");
  }
  return reasons.length === 0
    ? { verdict: "accept", contract: counter }
    : { verdict: "reject", reason: reasons.join("; ") };
}

/** The terms of a contract that time and retries depend on. */
export function toLifecycleTerms(
  contract: Contract | undefined,
  capability: Capability,
  defaults: LifecycleTerms = DEFAULT_TERMS,
): LifecycleTerms {
  const { max_attempts, lease_seconds } = effectiveContract(contract, capability);
  return { ...defaults, maxAttempts: max_attempts, leaseMs: Math.ceil(lease_seconds * 1000) };
}

type Caps = Pick<Contract, "max_tokens" | "max_cost">;

/** The caps on usage. They are not in a manifest: a recipient that accepts agrees to them. */
function capsOf({ max_tokens, max_cost }: Contract = {}): Caps {
  return {
    ...(max_tokens === undefined ? {} : { max_tokens }),
    ...(max_cost === undefined ? {} : { max_cost }),
  };
}

/** A counter-offer without the cap means that the recipient does not agree to it. */
function faultsOfCaps(counter: Contract, { max_tokens, max_cost }: Caps): string[] {
  const faults: string[] = [];
  if (max_tokens !== undefined && (counter.max_tokens ?? Infinity) > max_tokens) {
    faults.push(`max_tokens: at most ${max_tokens} tokens were asked for`);
  }
  const { max_cost: cost } = counter;
  if (max_cost !== undefined && (cost === undefined || isMoreMoney(cost, max_cost) !== false)) {
    faults.push(`max_cost: at most ${max_cost.amount} ${max_cost.currency} were asked for`);
  }
  return faults;
}

function isEnough(term: NumericTerm, given: number, needed: number): boolean {
  return TERM_RULES[term].recipientNeeds === "at_least" ? given >= needed : given <= needed;
}

function shortfall(term: NumericTerm, given: number, needed: number): string {
  const { recipientNeeds, unit } = TERM_RULES[term];
  const least = recipientNeeds === "at_least" ? "at least" : "at most";
  return `${term}: ${given} ${unit} are offered, and ${least} ${needed} needed`;
}

/** Schemas of contracts that were checked: an offer is judged, countered and bound with the same one. */
const soundSchemas = new WeakMap<object, Json>();

function readSchema(schema: Json): Json {
  const isComposed = typeof schema === "object" && schema !== null;
  const known = isComposed ? soundSchemas.get(schema) : undefined;
  if (known !== undefined) return known;
  const normalized = normalizeSchema(schema) as Json;
  compileSchema(normalized);
  if (isComposed) soundSchemas.set(schema, normalized);
  return normalized;
}

function faultOfSchema(schema: Json | undefined): string | undefined {
  try {
    if (schema !== undefined) readSchema(schema);
    return undefined;
  } catch (error) {
    return `the output_schema can't be used: ${WaybillError.from(error).message}`;
  }
}

function isWantedForm(countered: Json | undefined, wanted: readonly (Json | undefined)[]): boolean {
  const forms = wanted.filter((form) => form !== undefined);
  if (forms.length === 0) return true;
  return countered !== undefined && forms.some((form) => isSameSchema(form, countered));
}

function isSameSchema(a: Json, b: Json): boolean {
  return isSameJson(normalizeSchema(a) as Json, normalizeSchema(b) as Json);
}

/** Equal as data, in any order of members. The parser has bounded the depth. */
function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = a as { [name: string]: Json };
  const right = b as { [name: string]: Json };
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  );
}
