/// <reference types="node" />
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AttackClass } from "../attack-class.ts";
import { victim } from "../toolkit/victim.ts";

const PIECE = Buffer.alloc(256 * 1024, "[");

/** The behaviours of an inbox, by its path. */
const INBOXES: Readonly<
  Record<string, (request: IncomingMessage, response: ServerResponse) => void>
> = {
  "/silent": () => undefined,
  "/endless": (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = (): void => {
      while (!response.destroyed && response.write(PIECE));
    };
    response.on("drain", more);
    more();
  },
  "/dripping": (request, response) => {
    response.writeHead(200, { "content-length": "100000" });
    const timer = setInterval(() => response.write("{"), 50);
    response.once("close", () => clearInterval(timer));
  },
  "/redirecting": ({ headers }, response) => {
    response.writeHead(307, { location: `http://${headers.host}/silent` }).end();
  },
  "/envelopes": (_request, response) => {
    response.end(JSON.stringify({ envelopes: Array.from({ length: 1_000 }, () => "x.y.z") }));
  },
  "/resetting": ({ socket }) => socket.destroy(),
  "/deep": (_request, response) => void response.end("[".repeat(900_000)),
};

export const badInboxes: AttackClass = {
  name: "bad-inboxes",
  does: "inboxes that never answer, answer without end, drip, redirect, reset, or answer with a thousand invalid envelopes",
  lands: ["publish 200", "pushed"],
  hub: { arguments: ["--inner-inboxes", "127.0.0.9"] },
  async run(attacker) {
    const hit = await victim(attacker, (request, response) => {
      attacker.count("pushed");
      INBOXES[request.url ?? ""]?.(request, response);
    });
    const delegator = await attacker.enrolled();
    const paths = Object.keys(INBOXES);
    const input = "i".repeat(100_000);
    await attacker.crowd(8, async (lane, turn) => {
      const inbox = hit.url + paths[(lane + turn) % paths.length]!;
      const actor = await attacker.enrolled([{ name: "work" }], { inbox });
      for (let count = 0; count < 5; count++) {
        const { text } = delegator.handoff(actor.id, { capability: "work", input });
        await attacker.submit(text);
      }
      await attacker.rest(20);
    });
  },
};
