import { conversationOf, offerOf, outputOf, textMessage } from "@waybill/agent/adapter";
import type { Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import { converse } from "./converse.ts";
import type { Conversation, Converse } from "./conversation.ts";

/**
 * A conversation as a capability.
 *
 * @example
 * ```ts
 * agent.serve(...serveConversation(editor, { name: "edit" }));
 * ```
 */
export function serveConversation(conversation: Conversation, capability: CapabilityInput): Offer {
  const { name } = conversation;
  const names = name === undefined ? [] : [name];
  return offerOf({
    capability,
    names,
    keepsTranscripts: true,
    run: (run) => hold(conversation, run),
  });
}

async function hold(conversation: Conversation, run: Run): Promise<Finished | Paused> {
  const { work, resume } = run;
  const { output_schema: schema } = run.capability;
  const about: Converse = {
    run: run.handoffId,
    messages: conversationOf(work, schema),
    artifacts: work.artifacts,
    after: resume && (JSON.parse(resume.state) as Converse["after"]),
    answers: resume?.answers,
    output: schema,
    signal: run.signal,
    traceparent: run.traceparent,
    tracestate: run.tracestate,
    onDelta: run.delta,
    onProgress: (event) => run.progress(event),
  };
  let reply = await converse(conversation, about);
  const { questions, messages, artifacts } = reply;
  if (questions.length > 0) return { questions, state: JSON.stringify({ messages, artifacts }) };
  // One more turn of the model, only to repeat its answer in the required form.
  const again = async (request: string): Promise<string> => {
    const after = { ...reply, messages: [...reply.messages, textMessage("user", request)] };
    reply = await converse({ ...conversation, tools: [] }, { ...about, after });
    return reply.text;
  };
  const output = await outputOf(reply.text, schema, again);
  return { output, messages: work.messages && reply.messages, artifacts: reply.artifacts };
}
