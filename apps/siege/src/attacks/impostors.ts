import { generateKey } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { Actor } from "../toolkit/actor.ts";
import { attach } from "../toolkit/line.ts";

const CLAIMS = 8;

export const impostors: AttackClass = {
  name: "impostors",
  does: "strangers say hello, poll and publish in the name of an agent, to use up its budget; the agent itself must still be admitted",
  lands: ["claimed", "let in"],
  never: ["an agent was shut out by what others claimed", "an impostor was let in"],
  async run(attacker) {
    const owner = await attacker.enrolled([{ name: "work" }]);
    await attacker.crowd(4, async (lane) => {
      const impostor = new Actor(owner.id, attacker.place);
      impostor.key = generateKey();
      for (let claim = 0; claim < CLAIMS && !attacker.isOver; claim++) {
        const path = "/v1/inbox?instance=other&wait_seconds=0";
        const polled = await attacker.ask({ path, as: impostor, label: "poll" });
        const published = await attacker.publish(impostor.forget(), []);
        const isAttached = await attach(attacker, impostor).then(
          () => true,
          () => false,
        );
        attacker.count("claimed");
        if (polled.status === 200 || published.status === 200 || isAttached) {
          attacker.count("an impostor was let in");
        }
      }
      if (lane > 0) return;
      const path = "/v1/inbox?instance=own&wait_seconds=0";
      // From an address with an unused budget.
      const { status } = await attacker.ask({ path, as: owner, address: "127.0.0.4" });
      if (status === 200) attacker.count("let in");
      else attacker.count("an agent was shut out by what others claimed");
      await attacker.rest(200);
    });
  },
};
