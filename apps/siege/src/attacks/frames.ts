/// <reference types="node" />
import type { AttackClass } from "../attack-class.ts";
import { frameOf, OPCODES, RawWebSocket } from "../toolkit/web-socket.ts";

const SMALL = Buffer.alloc(1, "x");
const CONTROL = Buffer.alloc(125, "p");
const MANY = 2_000;

/** Sent on a new socket, repeatedly until the hub ends it. */
const SPEECHES: readonly (() => Buffer)[] = [
  () => repeated(frameOf(OPCODES.ping, CONTROL)),
  () => repeated(frameOf(OPCODES.pong, CONTROL)),
  () => repeated(frameOf(OPCODES.continuation, SMALL, { isFinal: false })),
  () =>
    Buffer.concat([
      frameOf(OPCODES.text, SMALL, { isFinal: false }),
      repeated(frameOf(OPCODES.continuation, Buffer.alloc(0), { isFinal: false })),
    ]),
  () =>
    Buffer.concat([
      frameOf(OPCODES.text, SMALL, { isFinal: false }),
      repeated(frameOf(OPCODES.ping, CONTROL)),
    ]),
  () => frameOf(OPCODES.text, SMALL, { length: Number.MAX_SAFE_INTEGER }),
  () => frameOf(OPCODES.text, SMALL, { length: 2 ** 30 }),
  () => frameOf(OPCODES.text, SMALL, { isMasked: false }),
  () => frameOf(OPCODES.text, SMALL, { reserved: 7 }),
  () => frameOf(OPCODES.binary, CONTROL),
  () => frameOf(3, CONTROL),
  () => frameOf(OPCODES.ping, Buffer.alloc(1_000)),
  () => frameOf(OPCODES.close, Buffer.from([0x03, 0xe7])),
  () => frameOf(OPCODES.text, Buffer.from([0xc3, 0x28])),
  () => repeated(frameOf(OPCODES.text, Buffer.from('{"type":"ping"}'))),
  () => frameOf(OPCODES.text, Buffer.from(`[${'{"type":"ping"},'.repeat(60_000)}{"type":"pong"}]`)),
];

export const frames: AttackClass = {
  name: "frames",
  does: "WebSocket frames that are endlessly fragmented, unmasked, reserved or of impossible length, and floods of control frames",
  from: ["elsewhere", "spread"],
  lands: ["spoken"],
  async run(attacker) {
    const speeches = SPEECHES.map((speech) => speech());
    await attacker.crowd(32, async (lane, turn) => {
      const web = await RawWebSocket.open(attacker);
      const speech = speeches[(lane + turn) % speeches.length]!;
      const until = Date.now() + 500;
      while (!web.socket.destroyed && !attacker.isOver && Date.now() < until) {
        attacker.count("spoken");
        if (web.socket.write(speech)) await attacker.rest(1);
        else
          await Promise.race([
            web.closed,
            new Promise((r) => web.socket.once("drain", r)),
            attacker.rest(100),
          ]);
      }
      web.socket.resetAndDestroy();
    });
  },
};

function repeated(frame: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: MANY }, () => frame));
}
