/// <reference types="node" />
import { randomBytes } from "node:crypto";
import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import { unsigned } from "../toolkit/unsigned.ts";

const AT_ONCE = 100;
/** The longest possible path: the tree has 2³² − 1 leaves. */
const DEPTH = 32;

export const deepBatches: AttackClass = {
  name: "deep-batches",
  does: "batch envelopes with paths of 32 nodes, each from a different tree, so that no cached root helps",
  from: ["elsewhere", "spread"],
  lands: ["answered 401"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const actor = await attacker.enrolled();
      const line = await attach(attacker, actor);
      while (!attacker.isOver) {
        const calls = Array.from({ length: AT_ONCE }, () => {
          const part = randomBytes(8 + 64 + DEPTH * 32);
          part.writeUInt32BE(0, 0);
          part.writeUInt32BE(0xffff_ffff, 4);
          const payload = JSON.stringify({ waybill: 1, kind: "cancel", id: newId() });
          const envelope = unsigned(actor.key.kid, payload, part, "Ed25519-batch");
          return line.call("submit", { envelope });
        });
        for (const status of await Promise.all(calls)) attacker.count(`answered ${status}`);
      }
    });
  },
};
