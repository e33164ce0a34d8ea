import type { AttackClass } from "../attack-class.ts";
import { digestOfJws } from "@waybill/protocol";
import { accept, pair } from "../toolkit/pair.ts";

const QUESTIONS = 256;

export const questionFlood: AttackClass = {
  name: "question-flood",
  does: "recipients ask 256 questions at a time with schemas of their own, and delegators answer each twice, along with questions that were never asked",
  lands: ["offered", "question 200", "answer 200"],
  async run(attacker) {
    const schema = { type: "object", properties: { a: { pattern: "^(x|y)*z{1,50}$" } } };
    await attacker.crowd(4, async () => {
      const both = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        const { attempt, handoff } = offer;
        while (!attacker.isOver) {
          const questions = Array.from({ length: QUESTIONS }, (_, index) => ({
            id: `q-${index}-${Date.now()}`,
            text: "?".repeat(500),
            schema,
          }));
          const asked = own.recipient.about(handoff, "question", { questions }, { attempt });
          attacker.count(`question ${await own.line.call("submit", { envelope: asked })}`);
          const ids = questions.map(({ id }) => id);
          const answers = [...ids, ...ids, "never asked"].map((id) => {
            const body = { question_id: id, answer: { a: "xyz" } };
            const more = { to: own.recipient.id, re: digestOfJws(asked) };
            const envelope = own.delegator.about(handoff, "answer", body, more);
            return own.line.call("submit", { envelope });
          });
          for (const status of await Promise.all(answers)) attacker.count(`answer ${status}`);
        }
      });
      const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      await attacker.hold();
    });
  },
};
