import { deepEqual, equal } from "node:assert/strict";
import type { HandoffHandle, Hub } from "@waybill/agent";
import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import { endingOf, moment, nextQuestion } from "../case.ts";
import type { Cases } from "../case.ts";
import type { Act } from "../fixture.ts";

const SHOWN: readonly string[] = Array.from({ length: 20 }, (_, index) => `part ${index} is done`);

/** Asks twice: the second question depends on the first answer. */
const asking: Act = async ({ ask }) => {
  const town = await ask("town", "Which town?");
  const day = await ask("day", `Which day in ${town as string}?`);
  return { output: { summary: `${town as string}, ${day as string}` } };
};

/** A hub that the n-th question never reaches, because its sender is killed before. */
function losingQuestion(hub: Hub, number: number, lost: () => void): Hub {
  let count = 0;
  return {
    ...hub,
    submit(envelope) {
      const { kind } = parseEnvelope(readCompact(envelope).payload);
      if (kind !== "question" || ++count < number) return hub.submit(envelope);
      lost();
      return new Promise(() => undefined);
    },
  };
}

/** Milestones are signed progress, and a model's text comes in deltas: a framework has one or both. */
function shownBy(handle: HandoffHandle, hear: (text: string) => void): Promise<void>[] {
  const read = async <Event>(events: AsyncIterable<Event>, textOf: (event: Event) => string) => {
    for await (const event of events) hear(textOf(event));
  };
  return [
    read(handle.progress, (event) => JSON.stringify(event)),
    read(handle.deltas, ({ text }) => text),
  ];
}

export const servedTalkingCases: Cases = {
  "serve: progress comes out in order, and all of it before the result": async (scene) => {
    await scene.serve(async ({ show }) => {
      for (const message of SHOWN) show(message);
      return { output: { summary: "done" } };
    });
    const handle = scene.handoff();
    let shown = "";
    await Promise.all(shownBy(handle, (text) => (shown += text)));
    await handle.result;
    const places = SHOWN.map((message) => shown.indexOf(message));
    equal(places.includes(-1), false, `not all was shown: ${shown.slice(0, 200)}`);
    deepEqual(
      places,
      places.toSorted((one, other) => one - other),
    );
  },

  "serve: progress comes out while the run goes on": async (scene) => {
    const finish = moment();
    await scene.serve(async ({ show }) => {
      show("half of it");
      await finish.came;
      return { output: { summary: "done" } };
    });
    const handle = scene.handoff();
    let shown = "";
    const all = shownBy(handle, (text) => {
      shown += text;
      if (shown.includes("half of it")) finish.come();
    });
    await scene.wait("what is shown", finish.came);
    await Promise.all(all);
    equal((await handle.result).status, 200);
  },

  "serve: a model's text goes out in unsigned deltas, and milestones are signed": async (scene) => {
    await scene.serve(async ({ show }) => {
      for (const message of SHOWN) show(message);
      return { output: { summary: "done" } };
    });
    const handle = scene.handoff();
    let written = "";
    const reading = (async () => {
      for await (const { text } of handle.deltas) written += text;
    })();
    await handle.result;
    await reading;
    const inDeltas = SHOWN.filter((piece) => written.includes(piece));
    // A message that is signed when it is complete contains all of the pieces.
    const signed = (await scene.said("progress"))
      .map(({ body }) => SHOWN.filter((piece) => JSON.stringify(body).includes(piece)))
      .filter((pieces) => !scene.streams || pieces.length < SHOWN.length)
      .flat();
    deepEqual(inDeltas, scene.streams ? SHOWN : [], "this went out in deltas");
    // Their order is another case.
    const expected = scene.streams ? [] : SHOWN.toSorted();
    deepEqual(signed.toSorted(), expected, "this was signed as progress");
  },

  "serve: a question comes out by its id, and its answer goes in": async (scene) => {
    await scene.serve(async ({ ask }) => ({
      output: { summary: `To ${(await ask("town", "Which town?")) as string}` },
    }));
    const handle = scene.handoff();
    const question = await scene.wait("the question", nextQuestion(handle));
    equal(JSON.stringify(question).includes("Which town?"), true);
    await handle.answer(question.id, "Bergen");
    const { output } = await scene.wait("the result", handle.result);
    deepEqual(output, { summary: "To Bergen" });
  },

  "serve: a run that asks twice and is restarted before each answer resumes where it was": async (
    scene,
  ) => {
    let agent = await scene.serve(asking);
    const handle = scene.handoff();
    const ids: string[] = [];
    for (const answer of ["Bergen", "Monday"]) {
      const { id } = await scene.wait("a question", nextQuestion(handle));
      ids.push(id);
      await agent.stop({ mode: "abandon" });
      await handle.answer(id, answer);
      agent = await scene.serve(asking);
    }
    const { output } = await scene.wait("the result", handle.result);
    deepEqual(output, { summary: "Bergen, Monday" });
    equal(new Set(ids).size, 2, "two questions had one id");
    equal((await scene.said("question")).length, 2, "a question was asked again");
  },

  "serve: an answer that is repeated after a crash answers no other question": async (scene) => {
    const asksAgain = moment();
    const agent = await scene.serve(asking, { hub: losingQuestion(scene.hub, 2, asksAgain.come) });
    const handle = scene.handoff({ timeoutMs: 300_000 });
    const first = await scene.wait("the first question", nextQuestion(handle));
    await handle.answer(first.id, "Bergen");
    await scene.wait("the run to ask again", asksAgain.came);
    await agent.stop({ mode: "abandon" });
    // Its lease expires before another agent is there, whose lease would then expire as well. The
    // hub's clock may be at most a minute ahead of an agent's.
    await scene.clock.advance(40_000);
    await scene.serve(asking);
    const second = await scene.wait("the second question", nextQuestion(handle));
    await handle.answer(second.id, "Monday");
    deepEqual((await scene.wait("the result", handle.result)).output, {
      summary: "Bergen, Monday",
    });
  },

  "serve: a second answer to one question changes nothing": async (scene) => {
    await scene.serve(asking);
    const handle = scene.handoff();
    const first = await scene.wait("the first question", nextQuestion(handle));
    await handle.answer(first.id, "Bergen");
    const second = await scene.wait("the second question", nextQuestion(handle));
    const refused = await endingOf(handle.answer(first.id, "Oslo"));
    equal(WaybillError.is(refused, 410), true);
    await handle.answer(second.id, "Monday");
    deepEqual((await scene.wait("the result", handle.result)).output, {
      summary: "Bergen, Monday",
    });
  },
};
