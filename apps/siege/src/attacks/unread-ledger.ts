import type { AttackClass } from "../attack-class.ts";
import { operatorProof } from "../toolkit/operator-proof.ts";

const STREAMS = 100;

export const unreadLedger: AttackClass = {
  name: "unread-ledger",
  does: "an operator's tools open the ledger and its watch 100 times and read nothing, while handoffs of 0.3 MB come in",
  lands: ["stream", "answered 200", "submit 200"],
  async run(attacker) {
    const { host, port } = attacker.place;
    const actor = await attacker.enrolled([{ name: "work" }]);
    const input = "l".repeat(200_000);
    await attacker.times(STREAMS, 16, async (index) => {
      const path = index % 2 === 0 ? "/v1/ledger?after=0" : "/v1/watch?after=0";
      const socket = await attacker.open();
      const authorization = operatorProof(attacker.place, path);
      const head = [
        `GET ${path} HTTP/1.1`,
        `Host: ${host}:${port}`,
        `Authorization: ${authorization}`,
      ];
      socket.once("data", (data: Buffer) => {
        attacker.count(`answered ${data.toString("latin1").slice(9, 12)}`);
        socket.pause();
      });
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      attacker.count("stream");
    });
    await attacker.crowd(2, () => {
      const { text } = actor.handoff(actor.id, { capability: "work", input });
      return attacker.submit(text);
    });
  },
};
