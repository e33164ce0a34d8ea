import type { Agent } from "@mastra/core/agent";
import { MessageList } from "@mastra/core/agent";
import type { Run } from "@waybill/agent/adapter";
import type { ModelMessage } from "@waybill/agent/model-messages";

// Any agent can be served, whatever its tools and context.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyAgent = Agent<any, any, any, any>;

/** The thread of a session in the agent's own memory. */
export interface Thread {
  /** For the agent: stored messages are read, and nothing is written before the turn is over. */
  readonly options: { readonly memory: object };
  /** Writes the turn, under ids that are the same in every attempt. */
  keep(said: readonly ModelMessage[]): Promise<void>;
}

/** The thread of a run's session; undefined if the agent has no memory, or the run no session. */
export async function threadFor(agent: AnyAgent, run: Run): Promise<Thread | undefined> {
  const { session, thread, handoffId, attempt } = run;
  const memory = session && agent.hasOwnMemory() ? await agent.getMemory() : undefined;
  if (session === undefined || memory === undefined) return undefined;
  const isThere = (await memory.getThreadById({ threadId: thread })) != null;
  if (isThere && attempt > 1) {
    // An earlier attempt may have been killed after it had written its turn, which is then written
    // again.
    const { messages } = await memory.recall({ threadId: thread, perPage: false });
    const own = messages.map(({ id }) => id).filter((id) => id.startsWith(`${handoffId}/`));
    if (own.length > 0) await memory.deleteMessages(own);
  }
  session.found(isThere);
  // A resource of its own: what Mastra recalls across the threads of a resource stays in this
  // thread.
  const resource = thread;
  return {
    options: { memory: { thread, resource, options: { readOnly: true } } },
    async keep(said) {
      if (!isThere) await memory.createThread({ threadId: thread, resourceId: resource });
      const list = new MessageList({ threadId: thread, resourceId: resource });
      for (const each of said) {
        if (each.role === "system") continue;
        list.add(each as never, each.role === "user" ? "input" : "response");
      }
      const messages = list.get.all.db();
      await memory.saveMessages({
        messages: messages.map((each, index) => ({ ...each, id: `${handoffId}/${index}` })),
      });
    },
  };
}
