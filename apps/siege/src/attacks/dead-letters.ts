import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const LETTERS = 2_000;
const AT_ONCE = 50;

export const deadLetters: AttackClass = {
  name: "dead-letters",
  does: "2,000 dead letters, listed again and again by their owner and by agents that have none, and replayed",
  from: ["elsewhere", "spread"],
  lands: ["submit 200", "list 200"],
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "work" }]);
    const nobody = await attacker.enrolled([{ name: "work" }]);
    const other = await attacker.enrolled();
    const line = await attach(attacker, actor);
    const half = attacker.leftMs / 2;
    await attacker.times(LETTERS / AT_ONCE, 1, async () => {
      if (attacker.leftMs < half) return;
      const calls = Array.from({ length: AT_ONCE }, () => {
        const { text } = actor.handoff(nobody.id, { capability: "work" }, { withinMs: 300 });
        return line.call("submit", { envelope: text });
      });
      for (const status of await Promise.all(calls)) attacker.count(`submit ${status}`);
    });
    await attacker.crowd(6, async (lane) => {
      const as = lane < 3 ? actor : other;
      const { text, status } = await attacker.ask({
        path: "/v1/dead-letters?limit=500",
        as,
        label: "list",
      });
      if (lane > 0 || status !== 200) return;
      const [letter] = (JSON.parse(text) as { dead_letters: { id: string }[] }).dead_letters;
      if (letter === undefined) return;
      const again = actor.handoff(
        nobody.id,
        { capability: "work" },
        { replay_of: letter.id, withinMs: 300 },
      );
      const path = `/v1/dead-letters/${letter.id}/replay`;
      const body = JSON.stringify({ envelope: again.text });
      await attacker.ask({ method: "POST", path, body, as: actor, label: "replay" });
    });
  },
};
