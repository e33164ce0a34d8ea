import type { AttackClass } from "../attack-class.ts";

const ENVELOPES = 60;
const CONNECTIONS = 300;
const DATA = "h".repeat(500_000);

export const unreadHistories: AttackClass = {
  name: "unread-histories",
  does: "a handoff with a history of many megabytes is streamed to 300 connections that read nothing",
  from: ["elsewhere", "spread"],
  lands: ["asked", "cancel"],
  async run(attacker) {
    const { host, port } = attacker.place;
    const actor = await attacker.enrolled([{ name: "long" }]);
    const handoff = actor.handoff(actor.id, { capability: "long", input: DATA });
    await attacker.submit(handoff.text, "handoff");
    const third = attacker.leftMs / 3;
    const until = attacker.leftMs - third;
    await attacker.times(ENVELOPES, 2, async () => {
      if (attacker.leftMs < until) return;
      // What comes too late, or is not allowed, is on record all the same where it is large.
      await attacker.submit(
        actor.about(handoff, "cancel", { reason: DATA.slice(0, 60_000) }, { re: undefined }),
        "c",
      );
      attacker.count("cancel");
    });
    const path = `/v1/handoffs/${handoff.handoffId}/history?limit=500`;
    await attacker.times(CONNECTIONS, 16, async (index) => {
      const socket = await attacker.open();
      socket.pause();
      const head = [
        `GET ${path} HTTP/1.1`,
        `Host: ${host}:${port}`,
        `Accept: ${index % 2 === 0 ? "application/x-ndjson" : "application/json"}`,
        `Authorization: ${actor.proof("GET", path)}`,
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      attacker.count("asked");
    });
    await attacker.hold();
  },
};
