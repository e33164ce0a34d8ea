import type { AttackClass } from "../attack-class.ts";
import { accept, pair } from "../toolkit/pair.ts";

const PAIRS = 16;
const DATA = "u".repeat(700_000);

export const unfetchedDeliveries: AttackClass = {
  name: "unfetched-deliveries",
  does: "delegators poll once and never again, while their recipients report progress of 0.9 MB at a time",
  from: ["elsewhere", "spread"],
  lands: ["offered", "progress 200", "poll 200"],
  async run(attacker) {
    await attacker.crowd(PAIRS, async () => {
      const both = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        const { attempt, handoff } = offer;
        while (!attacker.isOver) {
          const envelope = own.recipient.about(handoff, "progress", { data: DATA }, { attempt });
          attacker.count(`progress ${await own.line.call("submit", { envelope })}`);
        }
      });
      const path = "/v1/inbox?instance=once&wait_seconds=0";
      await attacker.ask({ path, as: both.delegator, label: "poll" });
      const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      await attacker.hold();
    });
  },
};
