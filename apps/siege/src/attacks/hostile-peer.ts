/// <reference types="node" />
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AttackClass } from "../attack-class.ts";
import { Actor } from "../toolkit/actor.ts";
import { listenAsHub } from "../toolkit/hub-side.ts";
import type { RawWebSocket } from "../toolkit/web-socket.ts";

const HOST = "127.0.0.8";
const PIECE = Buffer.from(`${'{"agent_id":"x"},'.repeat(4_000)}`);
const PINGS = `[${'{"type":"ping"},'.repeat(1_000_000)}{"type":"ping"}]`;

/** A configured peer, from which the hub first reads a list of this many manifests. */
function peer(name: string, does: string, listed: number, lands: readonly string[]): AttackClass {
  return {
    name,
    does,
    lands,
    hub: { hasPeer: true },
    async run(attacker) {
      const itself = new Actor("far-hub", attacker.place);
      const manifest = itself.manifest([]);
      const { kid } = itself.key;
      const known = { waybill: 1, hub: itself.id, domain: kid, manifest };
      const at = new Date().toISOString();
      const others = `,{"manifest":"x.y.z","at":"${at}"}`.repeat(listed);
      const manifests = `{"manifests":[${JSON.stringify({ manifest, at })}${others}]}`;
      const answer = (request: IncomingMessage, response: ServerResponse): void => {
        const { method = "", url = "" } = request;
        response.on("error", () => undefined);
        if (url === "/.well-known/waybill") {
          attacker.count("asked who it is");
          response.end(JSON.stringify(known));
        } else if (url.startsWith("/.well-known/waybill/agents/")) {
          attacker.count("asked for its manifests");
          response.end(manifests);
        } else if (method === "GET") {
          attacker.count("asked what it offers");
          endless(response);
        } else {
          attacker.count("told something");
          request.resume();
          response.end(JSON.stringify({ agent_id: "x", sequence: 1, receipt: "x" }));
        }
      };
      const opened = (web: RawWebSocket): void => {
        const { hub, domain } = known;
        const limits = { message_characters: 1_000_000, envelope_bytes: 1_000_000 };
        const challenge = { type: "challenge", waybill: 1, hub, domain, nonce: "n", limits };
        web.send(JSON.stringify(challenge));
        web.onText = (text) => {
          if (!text.includes('"hello"')) return;
          attacker.count("greeted");
          web.send(JSON.stringify({ type: "attached", ping_ms: 15_000 }));
          // A flooded hub closes the connection, and makes no further requests.
          void attacker.rest(attacker.leftMs / 2).then(() => flood(web));
        };
      };
      await listenAsHub(attacker, { host: HOST, port: attacker.peerPort, answer, opened });
      await attacker.hold();
    },
  };
}

export const peerLists: AttackClass = peer(
  "peer-lists",
  "a peer that the hub is told of lists 600,000 manifests of its own",
  600_000,
  ["asked for its manifests"],
);

export const peerFloods: AttackClass = peer(
  "peer-floods",
  "a peer that the hub is told of floods the hub's socket with messages of 16 MB, and lists what it offers without end to whoever still asks",
  0,
  ["greeted"],
);

function endless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"capabilities":[],"left_out":[],"fits":[');
  const more = (): void => {
    while (!response.destroyed && response.write(PIECE));
  };
  response.on("drain", more);
  more();
}

function flood(web: RawWebSocket): void {
  const more = (): void => {
    while (!web.socket.destroyed && web.send(PINGS));
  };
  web.socket.on("drain", more);
  more();
}
