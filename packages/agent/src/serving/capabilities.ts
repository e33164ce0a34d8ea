import {
  compileSchema,
  judgeOffer,
  matchesVersion,
  parseManifest,
  stringifyJson,
  takesFrom,
  termsOf,
  WaybillError,
} from "@waybill/protocol";
import type {
  Asker,
  Capability,
  CapabilityInput,
  CompiledSchema,
  Contract,
  HandoffBody,
  StatusCode,
} from "@waybill/protocol";
import { isDeclaration } from "../capability/capability.ts";
import type { CapabilityDeclaration } from "../capability/capability.ts";
import { handlerAs, inputAs } from "./declared.ts";
import type { Handler } from "./work.ts";

export interface Served {
  readonly capability: Capability;
  readonly input: CompiledSchema;
  readonly handler: Handler;
  /** Present if the capability was declared with schemas of a library. */
  readonly declaration?: CapabilityDeclaration;
}

/** Why an offer is refused. */
export interface Rejection {
  readonly status: StatusCode;
  readonly reason: string;
  readonly counter?: Contract;
}

/** Normalizes a capability to the form that the manifest will have. */
export function servedAs(
  agent: string,
  input: CapabilityInput | CapabilityDeclaration,
  handler: Handler,
): Served {
  if (isDeclaration(input)) {
    const served = servedAs(agent, input.manifest, handlerAs(input, handler));
    return { ...served, declaration: input };
  }
  const { capabilities } = parseManifest({ agent_id: agent, capabilities: [input] });
  const capability = capabilities[0]!;
  return { capability, input: compileSchema(capability.input_schema), handler };
}

/** The input as the handler gets it, or why the work is refused after all. */
export async function readInput(
  { declaration }: Served,
  { input }: HandoffBody,
): Promise<
  { readonly input: unknown; readonly rejection?: undefined } | { readonly rejection: Rejection }
> {
  if (declaration === undefined) return { input };
  const read = await inputAs(declaration, input);
  if (read.reason === undefined) return read;
  return { rejection: { status: 422, reason: read.reason } };
}

/**
 * The served capability that a handoff asks for; of several versions the first that takes work from
 * its delegator.
 */
export function servedFor(
  all: readonly Served[],
  { capability, version }: HandoffBody,
  asker: Asker,
): Served | undefined {
  const wanted = all.filter(
    (each) =>
      each.capability.name === capability &&
      (version === undefined || matchesVersion(each.capability.version, version)),
  );
  return wanted.find((each) => isFor(each, asker)) ?? wanted[0];
}

/** Group membership is known to the hub only, and was checked there. */
function isFor({ capability }: Served, asker: Asker): boolean {
  return takesFrom(capability, asker, () => true);
}

/** An offered handoff, and its delegator. */
export interface Offered {
  readonly body: HandoffBody;
  readonly asker: Asker;
  /** The same work was countered here before. */
  readonly hasCountered: boolean;
}

/** Why the work can't be taken on, or not on these terms; undefined if it can. */
export function rejectionOf(
  served: Served,
  { body, asker, hasCountered }: Offered,
): Rejection | undefined {
  const { capability } = served;
  if (!isFor(served, asker)) {
    const reason = `${capability.name} is not for ${asker.agent}: its from names neither that agent nor the key that has signed this.`;
    return { status: 403, reason };
  }
  const { input } = body;
  if (input !== undefined && capability.max_input_bytes < Number.MAX_SAFE_INTEGER) {
    const bytes = new TextEncoder().encode(stringifyJson(input)).length;
    if (bytes > capability.max_input_bytes) {
      const reason = `The input has ${bytes} bytes, and ${capability.name} takes at most ${capability.max_input_bytes}.`;
      return { status: 413, reason };
    }
  }
  const isWordsOnly = input === undefined && (body.brief ?? body.messages) !== undefined;
  if (!isWordsOnly || capability.takes === "structured") {
    const fault = faultOfInput(served, input);
    if (fault !== undefined) return fault;
  }
  const verdict = judgeOffer(body.contract, termsOf(capability), { hasCountered });
  if (verdict.verdict === "accept") return undefined;
  const { reason } = verdict;
  return verdict.verdict === "counter"
    ? { status: 406, reason, counter: verdict.contract }
    : { status: 406, reason };
}

function faultOfInput(
  { capability, input: schema }: Served,
  input: HandoffBody["input"],
): Rejection | undefined {
  try {
    if (input === undefined) {
      if (Object.keys(capability.input_schema).length === 0) return undefined;
      return { status: 422, reason: `${capability.name} needs an input, and there is none.` };
    }
    const [issue] = schema.check(input);
    if (issue === undefined) return undefined;
    const at = issue.at && ` at ${issue.at}`;
    return { status: 422, reason: `The input breaks its schema${at}: ${issue.message}` };
  } catch (error) {
    const { message } = WaybillError.from(error);
    return { status: 422, reason: `The input can't be checked: ${message}` };
  }
}
