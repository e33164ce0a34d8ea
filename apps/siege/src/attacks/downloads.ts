/// <reference types="node" />
import type { Socket } from "node:net";
import type { AttackClass } from "../attack-class.ts";
import type { Actor } from "../toolkit/actor.ts";
import type { Attacker } from "../toolkit/attacker.ts";
import { attach } from "../toolkit/line.ts";
import { blobPathOf, putBlob, signedHead, someText } from "../toolkit/blob.ts";

const AGENTS = 20;
const PER_AGENT = 14;
const MIB = 1024 * 1024;
const BLOB_BYTES = 24 * MIB;
const READ_EVERY_MS = 500;

interface Reader {
  readonly actor: Actor;
  readonly path: string;
}

/** Agents that may all read one blob, because its owner has offered it to each of them. */
async function readers(attacker: Attacker): Promise<readonly Reader[]> {
  const owner = await attacker.enrolled();
  const text = someText(BLOB_BYTES, owner.id);
  await putBlob(attacker, owner, text);
  const path = blobPathOf(text);
  const digest = path.slice(path.lastIndexOf("/") + 1);
  const film = { name: "film.mp4", media_type: "video/mp4", digest, size: BLOB_BYTES };
  const all: Reader[] = [];
  await attacker.times(AGENTS, 4, async () => {
    const actor = await attacker.enrolled([{ name: "work" }]);
    const offered = Promise.withResolvers<void>();
    await attach(attacker, actor, { credit: 1, delivered: () => offered.resolve() });
    const body = { capability: "work", artifacts: [film] };
    await attacker.submit(owner.handoff(actor.id, body).text, "handoff");
    await Promise.race([offered.promise, attacker.hold()]);
    all.push({ actor, path });
  });
  return all;
}

async function download(attacker: Attacker, { actor, path }: Reader): Promise<Socket> {
  const socket = await attacker.open();
  socket.write(signedHead(attacker, actor, "GET", path, "Connection: close"));
  return socket;
}

export const slowDownloads: AttackClass = {
  name: "slow-downloads",
  does: "20 agents download a blob of 24 MiB over 14 connections each, and read slowly",
  from: ["elsewhere", "spread"],
  lands: ["handoff 200", "read"],
  async run(attacker) {
    const all = await readers(attacker);
    await attacker.crowd(all.length * PER_AGENT, async (lane) => {
      const socket = await download(attacker, all[lane % all.length]!);
      socket.pause();
      socket.on("data", () => {
        attacker.count("read");
        socket.pause();
      });
      while (!socket.destroyed && !attacker.isOver) {
        await attacker.rest(READ_EVERY_MS);
        socket.resume();
      }
    });
  },
};

export const manyDownloads: AttackClass = {
  name: "many-downloads",
  does: "20 agents download a blob of 24 MiB over 14 connections each, repeatedly and as fast as possible",
  from: ["elsewhere", "spread"],
  lands: ["handoff 200", "megabyte"],
  async run(attacker) {
    const all = await readers(attacker);
    await attacker.crowd(all.length * PER_AGENT, async (lane) => {
      const socket = await download(attacker, all[lane % all.length]!);
      let bytes = 0;
      for await (const piece of socket as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes >= MIB) attacker.count("megabyte");
        bytes %= MIB;
      }
    });
  },
};
