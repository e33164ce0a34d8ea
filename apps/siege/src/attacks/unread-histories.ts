import type { AttackClass } from "../attack-class.ts";
import type { Actor, Known } from "../toolkit/actor.ts";
import type { Attacker } from "../toolkit/attacker.ts";
import { signedHead } from "../toolkit/blob.ts";
import { accept, pair } from "../toolkit/pair.ts";

const PAIRS = 10;
const REPORTS = 20;
const PER_AGENT = 14;
const DATA = "h".repeat(700_000);

interface Long {
  readonly actor: Actor;
  readonly handoff: Known;
}

/** Both parties of a handoff with a history of many megabytes. */
async function long(attacker: Attacker, fillMs: number): Promise<readonly Long[]> {
  const until = attacker.leftMs - fillMs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const both = await pair(attacker, async (offer, own) => {
    await accept(offer, own);
    for (let count = 0; count < REPORTS && attacker.leftMs > until; count++) {
      const { attempt } = offer;
      const report = own.recipient.about(offer.handoff, "progress", { data: DATA }, { attempt });
      attacker.count(`progress ${await own.line.call("submit", { envelope: report })}`);
    }
    resolve();
  });
  const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
  await attacker.submit(handoff.text, "handoff");
  await Promise.race([promise, attacker.rest(fillMs)]);
  return [both.delegator, both.recipient].map((actor) => ({ actor, handoff }));
}

export const unreadHistories: AttackClass = {
  name: "unread-histories",
  does: "20 agents have histories of many megabytes streamed to 14 connections each that read nothing",
  from: ["elsewhere", "spread"],
  lands: ["progress 200", "answered 200"],
  async run(attacker) {
    const all: Long[] = [];
    const fillMs = attacker.leftMs / 2;
    await attacker.times(PAIRS, PAIRS, async () => {
      all.push(...(await long(attacker, fillMs)));
    });
    await attacker.crowd(all.length * PER_AGENT, async (lane) => {
      const { actor, handoff } = all[lane % all.length]!;
      const path = `/v1/handoffs/${handoff.handoffId}/history?limit=500`;
      const socket = await attacker.open();
      const accepted = lane % 8 === 0 ? "application/json" : "application/x-ndjson";
      socket.write(signedHead(attacker, actor, "GET", path, `Accept: ${accepted}`));
      socket.once("data", (data: Buffer) => {
        attacker.count(`answered ${data.toString("latin1").slice(9, 12)}`);
        socket.pause();
      });
      while (!socket.destroyed && !attacker.isOver) await attacker.rest(500);
    });
  },
};
