import type { AttackClass } from "../attack-class.ts";
import { blobPathOf, putBlob, signedHead, someText } from "../toolkit/blob.ts";

const AGENTS = 40;
const PER_AGENT = 10;
const BLOB_BYTES = 64 * 1024 * 1024;
const FIRST = "x".repeat(256 * 1024);

export const slowUploads: AttackClass = {
  name: "slow-uploads",
  does: "40 agents upload 10 blobs each at once, a quarter of a megabyte first and then a byte at a time",
  from: ["elsewhere", "spread"],
  lands: ["byte", "upload 201"],
  async run(attacker) {
    const actors = await Promise.all(Array.from({ length: AGENTS }, () => attacker.enrolled()));
    const honest = await attacker.enrolled();
    await attacker.crowd(AGENTS * PER_AGENT + 1, async (lane, turn) => {
      if (lane === AGENTS * PER_AGENT) {
        await putBlob(attacker, honest, someText(200_000, `${honest.id} ${turn}`));
        return attacker.rest(100);
      }
      const actor = actors[lane % AGENTS]!;
      const socket = await attacker.open();
      socket.resume();
      const path = blobPathOf(`${actor.id} ${lane} ${turn}`);
      socket.write(signedHead(attacker, actor, "PUT", path, `Content-Length: ${BLOB_BYTES}`));
      socket.write(FIRST);
      while (!socket.destroyed && !attacker.isOver) {
        await attacker.rest(100 + (lane % 100));
        socket.write("x");
        attacker.count("byte");
      }
      attacker.count("upload cut");
    });
  },
};
