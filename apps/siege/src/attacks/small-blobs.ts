import type { AttackClass } from "../attack-class.ts";
import { putBlob } from "../toolkit/blob.ts";

const AGENTS = 20;
const AT_ONCE = 4;

export const smallBlobs: AttackClass = {
  name: "small-blobs",
  does: "20 agents upload distinct blobs of a few bytes, as fast as possible",
  from: ["elsewhere", "spread"],
  lands: ["upload 201"],
  async run(attacker) {
    const actors = await Promise.all(Array.from({ length: AGENTS }, () => attacker.enrolled()));
    await attacker.crowd(AGENTS * AT_ONCE, async (lane, turn) => {
      const actor = actors[lane % AGENTS]!;
      await putBlob(attacker, actor, `${actor.id} ${lane} ${turn}`);
    });
  },
};
