/// <reference types="node" />
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AttackClass } from "../attack-class.ts";
import { Actor } from "../toolkit/actor.ts";
import { listenAsHub } from "../toolkit/hub-side.ts";
import type { RawWebSocket } from "../toolkit/web-socket.ts";

const HOST = "127.0.0.8";
const MANY = 300_000;
const PIECE = Buffer.from(`${'{"agent_id":"x"},'.repeat(4_000)}`);
const PINGS = `[${'{"type":"ping"},'.repeat(1_000_000)}{"type":"ping"}]`;

export const hostilePeer: AttackClass = {
  name: "hostile-peer",
  does: "a peer that the hub is told of lists 300,000 manifests, answers without end, and floods the hub's socket with messages of 16 MB",
  lands: ["asked who it is"],
  hub: { hasPeer: true },
  async run(attacker) {
    const itself = new Actor("far-hub", attacker.place);
    const manifest = itself.manifest([]);
    const at = new Date().toISOString();
    const one = JSON.stringify({ manifest, at });
    const lists = [
      `{"manifests":[${one}${`,{"manifest":"x.y.z","at":"${at}"}`.repeat(MANY)}]}`,
      `{"manifests":[${one}]}`,
    ];
    let asked = 0;
    const known = { waybill: 1, hub: itself.id, domain: itself.key.kid, manifest };
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      const { method = "", url = "" } = request;
      response.on("error", () => undefined);
      if (url === "/.well-known/waybill") {
        attacker.count("asked who it is");
        response.end(JSON.stringify(known));
      } else if (url.startsWith("/.well-known/waybill/agents/")) {
        attacker.count("asked for its manifests");
        response.end(lists[asked++ % lists.length]);
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
      attacker.count("met by a socket");
      const limits = { message_characters: 1_000_000, envelope_bytes: 1_000_000 };
      const { hub, domain } = known;
      web.send(JSON.stringify({ type: "challenge", waybill: 1, hub, domain, nonce: "n", limits }));
      web.onText = (text) => {
        if (!text.includes('"hello"')) return;
        attacker.count("greeted");
        web.send(JSON.stringify({ type: "attached", ping_ms: 15_000 }));
        flood(web);
      };
    };
    await listenAsHub(attacker, { host: HOST, port: attacker.peerPort, answer, opened });
    await attacker.hold();
  },
};

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
