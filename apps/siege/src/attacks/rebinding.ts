import type { AttackClass } from "../attack-class.ts";
import { victim } from "../toolkit/victim.ts";

/** The answers that the stub resolver gives for these names: see resolver-stub.ts. */
const NAMES = ["inner", "mapped", "mixed", "turning", "many", "never", "slow", "none"];
/** Spellings of this machine, and of places that only this machine can reach. */
const SPELLINGS = [
  "127.9",
  "0x7f000009",
  "2130706441",
  "[::ffff:127.0.0.9]",
  "localhost.",
  "127.0.0.9",
];

export const rebinding: AttackClass = {
  name: "rebinding",
  does: "inboxes under names that resolve to internal addresses at once, only later, to thousands, slowly or never, and under every spelling of 127.0.0.9",
  lands: ["publish 200"],
  never: ["the hub connected to an inner address"],
  hub: { preload: "attacks/resolver-stub.ts" },
  async run(attacker) {
    const hit = await victim(attacker, (_request, response) => void response.end("{}"));
    await attacker.crowd(16, async (lane, turn) => {
      const index = lane + turn;
      const host =
        index % 2 === 0
          ? `${NAMES[(index / 2) % NAMES.length]}-${lane}-${turn}.rebind.test`
          : SPELLINGS[((index - 1) / 2) % SPELLINGS.length];
      const inbox = `https://${host}:${hit.port}/inbox`;
      const actor = attacker.actor();
      await attacker.publish(actor, [{ name: "work" }], { inbox });
      await attacker.submit(actor.handoff(actor.id, { capability: "work" }).text);
      await attacker.rest(5);
    });
    const connections = hit.connections();
    if (connections > 0) attacker.count("the hub connected to an inner address", connections);
  },
};
