import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const AT_ONCE = 200;

export const replays: AttackClass = {
  name: "replays",
  does: "the same valid handoffs of 200 kB, requests and hellos are sent thousands of times, over HTTP and sockets",
  from: ["elsewhere", "spread"],
  lands: ["replay 200", "proof 401"],
  never: ["a proof was taken twice"],
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "again" }]);
    const input = "r".repeat(200_000);
    const handoffs = Array.from({ length: 4 }, () =>
      actor.handoff(actor.id, { capability: "again", input }),
    );
    for (const { text } of handoffs) await attacker.submit(text, "first");
    const path = "/v1/handoffs?correlation_id=" + handoffs[0]!.correlationId;
    const authorization = actor.proof("GET", path);
    await attacker.ask({ path, headers: { authorization }, label: "first proof" });
    await attacker.crowd(8, async (lane, turn) => {
      const { text } = handoffs[turn % handoffs.length]!;
      if (lane === 0) {
        const answer = await attacker.ask({ path, headers: { authorization }, label: "proof" });
        if (answer.status === 200) attacker.count("a proof was taken twice");
      } else if (lane < 4) await attacker.submit(text, "replay");
      else {
        const line = await attach(attacker, await attacker.enrolled());
        const calls = Array.from({ length: AT_ONCE }, () =>
          line.call("submit", { envelope: text }),
        );
        for (const status of await Promise.all(calls)) attacker.count(`socket replay ${status}`);
        line.web.socket.resetAndDestroy();
      }
    });
  },
};
