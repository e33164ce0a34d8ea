import { digestOfJws } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import type { Heard } from "../toolkit/line.ts";
import { accept, pair } from "../toolkit/pair.ts";

const PAIRS = 4;
const PAPERS = 24;
const QUESTIONS = 10;
const TEXT = "?".repeat(60_000);
const ANSWER = "a".repeat(600_000);

export const longQuestions: AttackClass = {
  name: "long-questions",
  does: "recipients leave 14 MB of questions open and are answered with 0.8 MB at a time, and both sides keep reattaching to have all of it delivered again",
  lands: ["question 200", "answer 200", "answer 413", "brought"],
  async run(attacker) {
    await attacker.crowd(PAIRS, async () => {
      const both = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        const { attempt, handoff } = offer;
        const asked = (name: string, count: number): string => {
          const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
          const questions = ids.map((id) => ({ id, text: TEXT }));
          return own.recipient.about(handoff, "question", { questions }, { attempt });
        };
        for (let paper = 0; paper < PAPERS; paper++) {
          const envelope = asked(`open-${paper}`, QUESTIONS);
          attacker.count(`question ${await own.line.call("submit", { envelope })}`);
        }
        const answered = asked("answered", QUESTIONS);
        await own.line.call("submit", { envelope: answered });
        for (let index = 0; index < QUESTIONS; index++) {
          const body = { question_id: `answered-${index}`, answer: ANSWER };
          const more = { to: own.recipient.id, re: digestOfJws(answered) };
          const answer = own.delegator.about(handoff, "answer", body, more);
          await attacker.submit(answer, "answer");
        }
        own.line.web.socket.destroy();
        await attacker.crowd(2, async (lane) => {
          const actor = lane === 0 ? own.delegator : own.recipient;
          const line = await attach(attacker, actor, {
            credit: 1,
            delivered: (delivery: Heard, on) => {
              attacker.count("brought");
              on.say({ type: "seen", id: delivery["id"] });
            },
          });
          await attacker.rest(1_000);
          line.web.socket.destroy();
        });
      });
      const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      await attacker.hold();
    });
  },
};
