import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const WAITING = 20;
const FLAPS = 500;

export const creditGames: AttackClass = {
  name: "credit-games",
  does: "agents with waiting work alternate their credit between 10,000 and 0, thousands of times a second, and take nothing",
  from: ["elsewhere", "spread"],
  lands: ["attached", "flapped"],
  async run(attacker) {
    const frames = Array.from({ length: FLAPS }, (_, index) => ({
      type: "credit",
      credit: index % 2 === 0 ? 10_000 : 0,
    }));
    await attacker.crowd(8, async () => {
      const actor = await attacker.enrolled([{ name: "work" }]);
      await attacker.times(WAITING, 4, () =>
        attacker.submit(actor.handoff(actor.id, { capability: "work" }).text),
      );
      const { web } = await attach(attacker, actor);
      while (!web.socket.destroyed && !attacker.isOver) {
        attacker.count("flapped", FLAPS);
        if (web.send(JSON.stringify(frames))) await attacker.rest(1);
        else await Promise.race([web.closed, new Promise((r) => web.socket.once("drain", r))]);
      }
    });
  },
};
