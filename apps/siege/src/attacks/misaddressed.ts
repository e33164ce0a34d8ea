import type { AttackClass } from "../attack-class.ts";
import { knownBy } from "../toolkit/actor.ts";
import { attach } from "../toolkit/line.ts";

const WRONG = "whoever-else";

export const misaddressed: AttackClass = {
  name: "misaddressed",
  does: "a recipient addresses its result, progress and questions to a third party, and a delegator its cancel",
  lands: ["offered", "refused 403"],
  never: [
    "a misaddressed result was taken",
    "a misaddressed progress was taken",
    "a misaddressed question was taken",
    "a misaddressed receipt was taken",
    "a misaddressed cancel was taken",
  ],
  async run(attacker) {
    const recipient = await attacker.enrolled([{ name: "work" }]);
    const delegator = await attacker.enrolled();
    const say = async (kind: string, text: string): Promise<void> => {
      const { status } = await attacker.submit(text, kind);
      attacker.count(status === 200 ? `a misaddressed ${kind} was taken` : `refused ${status}`);
    };
    await attach(attacker, recipient, {
      credit: 16,
      delivered: (delivery) => {
        if (delivery["type"] !== "offer") return;
        attacker.count("offered");
        const handoff = knownBy(String(delivery["envelope"]));
        const { attempt } = delivery;
        const members = { attempt, to: WRONG };
        const about = (kind: string, body: object): string =>
          recipient.about(handoff, kind, body, members);
        void attacker.bear(async () => {
          await say("receipt", about("receipt", { status: 101 }));
          await say("progress", about("progress", { fraction: 0.5 }));
          await say("question", about("question", { questions: [{ id: "q", text: "?" }] }));
          await say("result", about("result", { status: 200, output: 1 }));
        });
      },
    });
    await attacker.crowd(2, async () => {
      const handoff = delegator.handoff(recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      await attacker.rest(50);
      const cancel = delegator.about(handoff, "cancel", {}, { to: WRONG, re: undefined });
      await say("cancel", cancel);
    });
  },
};
