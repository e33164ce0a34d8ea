import { inputOf, mediaIn, offerOf } from "@waybill/agent/adapter";
import type { Offer, PortableWork, Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { CapabilityInput, Json } from "@waybill/protocol";
import type { AutogenHost } from "./host.ts";
import { isObject } from "./message.ts";

/** Which agent of AutoGen is served, and as which capability. */
export interface ServeAgentOptions {
  readonly agentType: string;
  /** What the agent handles: the name of the message's class in Python. */
  readonly messageType: string;
  /** Which instance of the agent does it. Left out: one for each session, and one for each other handoff. */
  readonly key?: ((run: Run) => string) | undefined;
  readonly capability: CapabilityInput;
}

/**
 * An AutoGen agent as a capability.
 *
 * @example
 * ```ts
 * const capability = { name: "file", input_schema: { text: "string" } };
 * agent.serve(...serveAgent(host, { agentType: "clerk", messageType: "Ask", capability }));
 * ```
 */
export function serveAgent(
  host: AutogenHost,
  { agentType, messageType, key = ({ thread }) => thread, capability }: ServeAgentOptions,
): Offer {
  return offerOf({
    capability,
    async run(run) {
      const { work, handoffId, attempt, thread, session, signal, traceparent, tracestate } = run;
      assertNothingLost(work);
      const members = inputOf(work, run.capability.input_schema);
      assertHasMembers(members, messageType);
      const { value } = await host.ask({
        target: { type: agentType, key: key(run) },
        message: { type: messageType, value: members },
        run: handoffId,
        requestId: `${handoffId}:${attempt}`,
        conversation: session && { thread, found: (had) => session.found(had) },
        signal,
        traceparent,
        tracestate,
      });
      return { output: value };
    },
  });
}

/** A message of AutoGen's core is the members of its class: nothing goes along with it. */
function assertNothingLost({ input, messages = [], artifacts = [] }: PortableWork): void {
  const [file] = artifacts;
  const [media] = messages.flatMap(mediaIn);
  if (file !== undefined) throw placeless(`the file ${file.name}`);
  if (media !== undefined) throw placeless(`the ${media.type} ${media.name ?? media.media_type}`);
  // Without an input, what the history states is the input.
  if (input !== undefined && messages.length > 0) throw placeless("a history");
}

function placeless(what: string): WaybillError {
  return new WaybillError(
    422,
    `The work has ${what}, and a message of AutoGen's core has no place for it: leave it out, or put it into the input.`,
  );
}

/** A worker that can't make a message of what it gets says nothing at all. */
function assertHasMembers(value: Json, messageType: string): void {
  if (isObject(value)) return;
  throw new WaybillError(
    422,
    `${messageType} is a message with members, so its input is an object: name them in input_schema, and words become the one text that it asks for.`,
  );
}
