import type { AttackClass } from "../attack-class.ts";
import { blobPathOf, putBlob, putPart, someText } from "../toolkit/blob.ts";

const AGENTS = 40;
const ANNOUNCED = 5 * 1024 ** 3;
const HONEST_BYTES = 200_000;

export const announcedBlobs: AttackClass = {
  name: "announced-blobs",
  does: "40 agents announce blobs of 5 GiB again and again and send one byte of each; another uploads",
  from: ["elsewhere", "spread"],
  lands: ["part 202", "upload 201"],
  never: ["upload 503"],
  async run(attacker) {
    const actors = await Promise.all(Array.from({ length: AGENTS }, () => attacker.enrolled()));
    const honest = await attacker.enrolled();
    await attacker.crowd(AGENTS + 1, async (lane, turn) => {
      if (lane === AGENTS) {
        await putBlob(attacker, honest, someText(HONEST_BYTES, `${honest.id} ${turn}`));
        return attacker.rest(100);
      }
      const actor = actors[lane]!;
      const path = blobPathOf(`${actor.id} ${turn}`);
      await putPart(attacker, actor, path, "b", ANNOUNCED);
    });
  },
};
