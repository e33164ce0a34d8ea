/// <reference types="node" />
import { randomBytes } from "node:crypto";
import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import { unsigned } from "../toolkit/unsigned.ts";

const AT_ONCE = 200;

export const garbageSignatures: AttackClass = {
  name: "garbage-signatures",
  does: "small envelopes with random signatures under a known key, hundreds in one message of a socket",
  from: ["elsewhere", "spread"],
  lands: ["answered 401"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const actor = await attacker.enrolled();
      const line = await attach(attacker, actor);
      while (!attacker.isOver) {
        const payload = JSON.stringify({ waybill: 1, kind: "cancel", id: newId(), from: actor.id });
        const calls = Array.from({ length: AT_ONCE }, () => {
          const envelope = unsigned(actor.key.kid, payload, randomBytes(64));
          return line.call("submit", { envelope });
        });
        for (const status of await Promise.all(calls)) attacker.count(`answered ${status}`);
      }
    });
  },
};
