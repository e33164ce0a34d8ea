import { join } from "node:path";
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { PUBLISHER } from "../staff/staff.ts";
import { QUESTIONS, SLOW, TOPIC } from "../story/questions.ts";
import type { Answerer } from "./person.ts";

export interface Ordered {
  readonly article: string;
  /** The correlation id of everything that was done for it. */
  readonly job: string;
}

const IN_TIME_MS = 120_000;
/** The model is silent on the slow question for longer than this. */
const TOO_SHORT_MS = 6_000;
const STORY_MS = 600_000;

/** The whole job is one handoff to an agent that can publish a story; a person answers its questions. */
export async function orderStory(url: string, folder: string, answer: Answerer): Promise<Ordered> {
  const hub = await connect(url);
  const key = await loadKey(join(folder, `${PUBLISHER}.key`));
  const publisher = createAgent({ id: PUBLISHER, key, hub });
  await publisher.start();
  const questions = QUESTIONS.map(({ question }, index) => ({
    question,
    timeoutMs: index === SLOW ? TOO_SHORT_MS : IN_TIME_MS,
  }));
  const handoff = publisher.handoff({
    capability: "publish_story",
    input: { topic: TOPIC, questions },
    timeoutMs: STORY_MS,
  });
  const answering = (async () => {
    for await (const { id, text = "" } of handoff.questions) {
      await handoff.answer(id, await answer(text));
    }
  })();
  const { output } = await handoff.result;
  await answering;
  await handoff.acknowledge();
  await publisher.stop();
  await hub.close();
  return { ...(output as { article: string }), job: handoff.envelope.correlation_id };
}
