import type { AttackClass } from "../attack-class.ts";

const MEGABYTE = "x".repeat(1024 * 1024);

export const fewLarge: AttackClass = {
  name: "few-large",
  does: "bodies at and over the size limit, with and without a length, to every endpoint that takes one and to some that do not",
  from: ["elsewhere", "spread"],
  lands: ["400", "413"],
  async run(attacker) {
    const envelope = { envelope: MEGABYTE };
    const paths = ["/v1/envelopes", "/v1/agents/x", "/v1/capabilities/find", "/nothing"];
    await attacker.crowd(16, async (lane, turn) => {
      const path = paths[(lane + turn) % paths.length]!;
      const method = path === "/v1/agents/x" ? "PUT" : "POST";
      if (turn % 2 === 0) return attacker.ask({ method, path, body: envelope });
      const headers = { "transfer-encoding": "chunked" };
      return attacker.ask({ method, path, headers, body: MEGABYTE + MEGABYTE });
    });
  },
};
