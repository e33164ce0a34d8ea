import type { AttackClass } from "../attack-class.ts";

const LONG = "a".repeat(15_000);

/** The part before the blank line, or the whole request if it contains a blank line. */
const REQUESTS: readonly string[] = [
  "GET //v1//capabilities HTTP/1.1\r\nHost: 127.0.0.1",
  "GET /v1/../v1/agents/%2e%2e/%00 HTTP/1.1\r\nHost: 127.0.0.1",
  "GET /v1/agents/%ff%fe HTTP/1.1\r\nHost: 127.0.0.1",
  `GET /v1/agents/${LONG} HTTP/1.1\r\nHost: 127.0.0.1`,
  `GET /v1/capabilities?${"tags=x&".repeat(2_000)} HTTP/1.1\r\nHost: 127.0.0.1`,
  "GET /v1/capabilities?limit=1e9&after=__proto__&words[]=1 HTTP/1.1\r\nHost: 127.0.0.1",
  "GET http://elsewhere.example/v1/agents HTTP/1.1\r\nHost: 127.0.0.1",
  "GET /v1/agents HTTP/1.1\r\nHost: elsewhere.example",
  "GET /v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://elsewhere.example",
  "GET /v1/agents HTTP/1.1",
  "GET /v1/agents HTTP/0.9\r\nHost: 127.0.0.1",
  "GET /v1/agents\r\n\r\n",
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${"x: y\r\n".repeat(1_900)}`,
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nx: ${"y".repeat(30_000)}`,
  "POST /v1/envelopes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/agents HTTP/1.1",
  "POST /v1/envelopes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1",
  "POST /v1/envelopes HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
  "POST /v1/envelopes HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 1000000",
  "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443",
  "TRACE / HTTP/1.1\r\nHost: 127.0.0.1",
  "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "GET /v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ",
  "GET /v1/socket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: x",
  "\u0000\u0001\u0002\u0003",
  "\r\n\r\n\r\n\r\n",
];

export const oddRequests: AttackClass = {
  name: "odd-requests",
  does: "paths, queries, headers, methods and upgrades that no client sends: smuggled, duplicated, endless, foreign, of other versions",
  from: ["elsewhere", "beside"],
  lands: ["answered 400", "answered 403", "answered 404"],
  never: ["answered 500"],
  async run(attacker) {
    await attacker.crowd(32, async (lane, turn) => {
      const request = REQUESTS[(lane + turn) % REQUESTS.length]!;
      const socket = await attacker.open();
      socket.once("data", (data: Buffer) => {
        const status = /^HTTP\/1\.1 (\d{3})/.exec(data.toString("latin1"))?.[1];
        attacker.count(`answered ${status ?? "something else"}`);
        socket.resetAndDestroy();
      });
      socket.write(`${request}\r\n\r\n`);
      const gone = new Promise((resolve) => socket.once("close", resolve));
      await Promise.race([gone, attacker.rest(300)]);
      socket.resetAndDestroy();
    });
  },
};
