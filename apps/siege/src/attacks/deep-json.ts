import type { AttackClass } from "../attack-class.ts";
import { RawWebSocket } from "../toolkit/web-socket.ts";

const DEEP = "[".repeat(1_000_000);
const DEEP_PAIRS = '{"a":'.repeat(150_000);

export const deepJson: AttackClass = {
  name: "deep-json",
  does: "JSON nested a million levels deep as a body, as a socket message, and signed inside an envelope",
  lands: ["envelope 413", "body 413", "socket"],
  async run(attacker) {
    const actor = await attacker.enrolled();
    const envelopes = [actor.signText("[".repeat(700_000)), actor.signText(DEEP_PAIRS)];
    const paths = ["/v1/envelopes", "/v1/capabilities/find", "/v1/envelopes"];
    await attacker.crowd(6, async (lane, turn) => {
      if (lane < 2) return attacker.submit(envelopes[turn % envelopes.length]!, "envelope");
      if (lane < 4) {
        const path = paths[turn % paths.length]!;
        return attacker.ask({ method: "POST", path, body: DEEP, label: "body" });
      }
      const web = await RawWebSocket.open(attacker);
      attacker.count("socket");
      web.send(turn % 2 === 0 ? DEEP : DEEP_PAIRS);
      return web.closed;
    });
  },
};
