import { call, conversationHere, inputOf, sessionFor } from "@waybill/agent/adapter";
import type { CallSession, PortableWork } from "@waybill/agent/adapter";
import type { Agent } from "@waybill/agent";
import { wordsOf } from "@waybill/agent/adapter";
import type { Capability, Json } from "@waybill/protocol";
import type { Assignment, Member } from "./member.ts";

/** A member that works in this process. */
export interface LocalMember extends Pick<Member, "role" | "goal"> {
  run(assignment: Assignment): Promise<Json> | Json;
}

/** A function as a member. */
export function localMember({ run, ...member }: LocalMember): Member {
  return { ...member, work: async (assignment) => ({ output: await run(assignment) }) };
}

/** A person, or anything that answers questions, as a member. */
export function askedMember(role: string, goal: string): Member {
  const run = async ({ brief, ask }: Assignment) =>
    wordsOf(await ask({ id: role, text: brief.instruction }));
  return localMember({ role, goal, run });
}

/** How another agent takes part in a crew. */
export interface RemoteMemberOptions {
  /** Its role in the crew; by default the agent's name or the capability's. */
  readonly role?: string | undefined;
  /** By default the capability's description. */
  readonly goal?: string | undefined;
  /** The recipient. By default the hub picks an agent with the capability for each task. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for that of the handoff that the crew serves, or else of the
   * crew's run. By default each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
}

/** An agent anywhere as a member. */
export function remoteMember(
  agent: Agent,
  capability: Capability,
  options: RemoteMemberOptions = {},
): Member {
  const { to, timeoutMs, session, role = to ?? capability.name } = options;
  const { goal = capability.description ?? capability.name } = options;
  return {
    role,
    goal,
    async work({ run, step, artifacts, signal, traceparent, tracestate, ...assignment }) {
      const {
        output,
        messages,
        artifacts: files,
        usage,
      } = await call(agent, {
        step: { run, step },
        capability: capability.name,
        to,
        timeoutMs,
        session: sessionFor(session, conversationHere(run)),
        ...workOf(assignment, capability),
        ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }),
        traceparent,
        tracestate,
        signal,
        onProgress: ({ message, fraction, data }) =>
          assignment.progress({ message, fraction, data }),
        onQuestion: ({ id, text, data, schema }) => assignment.ask({ id, text, data, schema }),
      });
      return { output, messages, artifacts: files, usage: usage?.rows };
    },
  };
}

/** The task in words, the whole history, and a value if the task has one or the member takes no words. */
function workOf(
  { brief, input, request: { messages } }: Pick<Assignment, "brief" | "input" | "request">,
  { takes, input_schema }: Capability,
): PortableWork {
  const words = { brief, ...(messages === undefined ? {} : { messages }) };
  if (input !== undefined) return { ...words, input };
  return takes === "structured" ? { ...words, input: inputOf(words, input_schema) } : words;
}
