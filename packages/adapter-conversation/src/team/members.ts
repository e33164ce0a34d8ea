import {
  briefOf,
  call,
  conversationHere,
  filesIn,
  inputOf,
  repliesOf,
  saidSince,
  sessionFor,
  textMessage,
  textOf,
  toolNameOf,
  wordsOf,
} from "@waybill/agent/adapter";
import type { CallSession, PortableWork } from "@waybill/agent/adapter";
import type { Agent, HandoffResult } from "@waybill/agent";
import { describeForModel } from "@waybill/protocol";
import type { Artifact, Capability, Json, Message } from "@waybill/protocol";
import type { Conversation, Converse } from "../conversation.ts";
import { converse } from "../converse.ts";
import type { Tool } from "../tool.ts";
import { heardBy } from "./heard-by.ts";
import type { Handoff, Member, Turn } from "./team.ts";

/** Options for a conversation as a member of a team. */
export interface ConversationMemberOptions {
  readonly description: string;
  /** The targets to which it may hand the turn: members, agents on the hub, or capabilities. */
  readonly handoffs?: readonly Handoff["to"][] | undefined;
}

/** A conversation with a model as a member of a team, under the conversation's name. */
export function conversationMember(
  conversation: Conversation & { readonly name: string },
  { description, handoffs = [] }: ConversationMemberOptions,
): Member {
  const { name } = conversation;
  return {
    name,
    description,
    async speak({ run, step, state, answers, signal, traceparent, tracestate, ...turn }) {
      let handoff: Handoff | undefined;
      const transfers = handoffs.map((to) => transferTool(to, () => (handoff = { to })));
      const { tools: own = [] } = conversation;
      const tools = async () => [...(typeof own === "function" ? await own() : own), ...transfers];
      const reply = await converse(
        { ...conversation, tools },
        {
          run: `${run}/${step}`,
          messages: heardBy(name, turn.messages),
          artifacts: turn.artifacts,
          after: state as Converse["after"],
          answers,
          signal,
          traceparent,
          tracestate,
          onDelta: turn.delta,
          onProgress: turn.progress,
        },
      );
      const { messages, artifacts, usage, questions } = reply;
      if (questions.length > 0) {
        return {
          messages: [],
          usage,
          questions,
          state: { messages, artifacts } as unknown as Json,
        };
      }
      return { messages, artifacts, usage, handoff };
    },
  };
}

function transferTool(to: Handoff["to"], give: () => void): Tool {
  const who = typeof to === "string" ? to : to.capability;
  return {
    name: toolNameOf(`transfer_to_${who}`),
    description: `Gives the word to ${typeof to === "string" ? who : `an agent that can do ${who}`}.`,
    parameters: { type: "object", properties: {}, additionalProperties: false },
    async use() {
      give();
      return { output: `The word is given to ${who}.`, isLast: true };
    },
  };
}

/** Options for another agent as a member of a team. */
export interface RemoteMemberOptions {
  /** Its name in the team, by default the agent's, or one derived from the capability. */
  readonly name?: string | undefined;
  /** The agent. By default the hub picks an agent that has the capability, for each turn. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in, where it is told what was said since its last turn; `true` for the
   * session of the handoff that the team serves, or else of the team's run. By default, each turn
   * is a conversation of its own, and it is told everything.
   */
  readonly session?: CallSession;
  /**
   * Called with the complete result, as it was received. Only for code: its messages may claim any
   * name.
   */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

/**
 * An agent anywhere as a member of a team: it is told everything that was said. All that its result
 * says is its own speech, under its name in the team.
 */
export function remoteMember(
  agent: Agent,
  capability: Capability,
  { to, timeoutMs, session, name = to ?? capability.name, onResult }: RemoteMemberOptions = {},
): Member {
  return {
    name,
    description: describeForModel(capability),
    async speak({ run, step, messages, artifacts, signal, traceparent, tracestate, ...turn }) {
      const result = await call(agent, {
        step: { run, step },
        capability: capability.name,
        to,
        timeoutMs,
        session: sessionFor(session, conversationHere(run)),
        ...workOf(saidSince(session, messages, name), artifacts, capability),
        traceparent,
        tracestate,
        signal,
        onDelta: ({ text }) => turn.delta(text),
        onProgress: ({ message, fraction, data }) => turn.progress({ message, fraction, data }),
        onQuestion: ({ id, text, data, schema }) => turn.ask({ id, text, data, schema }),
      });
      onResult?.(result);
      const { artifacts: files, usage } = result;
      return { messages: repliesOf(result, name), artifacts: files, usage: usage?.rows };
    },
  };
}

/**
 * What was said, in the form that the capability takes. If it takes no messages, their media become
 * files.
 */
function workOf(
  messages: readonly Message[],
  brought: readonly Artifact[],
  { takes, input_schema }: Capability,
): PortableWork {
  const said = { messages: [...messages] };
  const files = takes === "conversation" ? brought : filesIn(messages, brought);
  const artifacts = files.length === 0 ? {} : { artifacts: [...files] };
  if (takes === "conversation") return { ...said, ...artifacts };
  if (takes === "delegation") return { brief: briefOf(said), ...artifacts };
  return { input: inputOf(said, input_schema), ...artifacts };
}

/** A person, or anything that answers questions, as a member of a team. */
export function askedMember(name: string, description: string): Member {
  return {
    name,
    description,
    async speak({ messages, ask }: Turn) {
      const last = messages.at(-1);
      const answer = await ask({ id: name, text: last && textOf(last) });
      return { messages: [textMessage("user", wordsOf(answer), name)] };
    },
  };
}
