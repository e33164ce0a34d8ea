import {
  conversationOf,
  inputOf,
  mediaIn,
  offerOf,
  outputOf,
  textOf,
  unshowable,
  withFiles,
} from "@waybill/agent/adapter";
import type { Finished, Offer, Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, CapabilityInput, Json } from "@waybill/protocol";
import type { AutogenHost } from "./host.ts";
import { isObject } from "./message.ts";
import { membersFor, sorted } from "./message-members.ts";
import type { MessageMembers } from "./message-members.ts";

/** The AutoGen agent to serve, and its capability. */
export interface ServeAgentOptions {
  readonly agentType: string;
  /** The type of message that the agent handles: the name of its class in Python. */
  readonly messageType: string;
  /** The members of that class, and of the answer's, for a conversation, files and usage. */
  readonly members?: MessageMembers | undefined;
  /**
   * The class of the message that tells the agent to stop working on a request, with its
   * `message_id`. By default, a handler runs on when its handoff is over.
   */
  readonly stop?: string | undefined;
  /**
   * The instance of the agent. By default there is one for each session, and one for each other
   * handoff.
   */
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
  {
    agentType,
    messageType,
    members = {},
    stop,
    key = ({ thread }) => thread,
    capability,
  }: ServeAgentOptions,
): Offer {
  return offerOf({
    capability,
    names: [agentType],
    async run(run) {
      const { handoffId, attempt, thread, session, signal, traceparent, tracestate } = run;
      const requestId = `${handoffId}:${attempt}`;
      const { value } = await host.ask({
        target: { type: agentType, key: key(run) },
        message: { type: messageType, value: membersOf(run, messageType, members) },
        run: handoffId,
        requestId,
        stop: stop === undefined ? undefined : { type: stop, value: { message_id: requestId } },
        conversation: session && { thread, found: (had) => session.found(had) },
        signal,
        traceparent,
        tracestate,
      });
      return finished(run, value, members);
    },
  });
}

/** The work as the members of the message's class. */
function membersOf(
  { work, received, capability }: Run,
  messageType: string,
  members: MessageMembers,
): { [member: string]: Json } {
  const { artifacts = [] } = work;
  assertNothingLost(work, members);
  if (members.conversation !== undefined) {
    const asked = conversationOf(work, capability.output_schema);
    const along = {
      messages: withFiles(asked, artifacts.filter(isImage)),
      received: received.messages,
      artifacts: artifacts.filter((file) => !isImage(file)),
    };
    return membersFor(along, members, (media) => {
      throw unshowable(
        media,
        "AutoGen shows models PNG, JPEG, GIF and WebP images that are carried along, and nothing else",
      );
    });
  }
  const input = inputOf(work, capability.input_schema);
  assertHasMembers(input, messageType);
  const along = membersFor({ messages: [], artifacts }, members, () => "");
  return { ...input, ...along };
}

async function finished(
  { capability, addUsage }: Run,
  value: Json,
  members: MessageMembers,
): Promise<Finished> {
  const { messages, artifacts, usage, others } = sorted(value, members);
  if (usage !== undefined) addUsage({ requests: 1, ...usage });
  const words = textOf(messages?.at(-1) ?? { role: "assistant", content: [] });
  const isSaid = others === undefined && words !== "";
  const output = isSaid ? await outputOf(words, capability.output_schema) : others;
  return { output, messages, artifacts };
}

/** A message of AutoGen's core has only the members of its class: other parts would be lost. */
function assertNothingLost(
  { input, messages = [], artifacts = [] }: Run["work"],
  members: MessageMembers,
) {
  const { conversation, files } = members;
  const [file] = artifacts.filter((each) => conversation === undefined || !isImage(each));
  if (file !== undefined && files === undefined) throw placeless(`the file ${file.name}`);
  if (conversation !== undefined) return;
  const [media] = messages.flatMap(mediaIn);
  if (media !== undefined) throw placeless(`the ${media.type} ${media.name ?? media.media_type}`);
  // Without an input, the history is stated in the text.
  if (input !== undefined && messages.length > 0) throw placeless("a history");
}

/** An image that is sent with a conversation is shown in it. */
function isImage({ media_type: type }: Artifact): boolean {
  return type.startsWith("image/");
}

function placeless(what: string): WaybillError {
  return new WaybillError(
    422,
    `The work has ${what}, and the message's class has no member for it: leave it out, put it into the input, or name the member in the option members.`,
  );
}

/** A worker that can't construct a message does not answer at all. */
function assertHasMembers(
  value: Json,
  messageType: string,
): asserts value is { [member: string]: Json } {
  if (isObject(value)) return;
  throw new WaybillError(
    422,
    `${messageType} is a message with members, so its input must be an object: declare them in input_schema; plain text then becomes its one required text member.`,
  );
}
