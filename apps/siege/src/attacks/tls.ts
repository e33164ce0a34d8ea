/// <reference types="node" />
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:tls";
import type { AttackClass } from "../attack-class.ts";

/** The start of a ClientHello that claims to be 16 kB long. */
const HALF_A_HELLO = Buffer.from("160301400001003ffc0303", "hex");

export const tls: AttackClass = {
  name: "tls",
  does: "TLS handshakes that never finish or restart, and plain HTTP and noise on the TLS port",
  from: ["elsewhere", "spread"],
  lands: ["half a handshake", "handshake", "plain"],
  hub: { isTls: true },
  async run(attacker) {
    const { host, port } = attacker.place;
    await attacker.crowd(64, async (lane) => {
      const socket = await attacker.open();
      if (lane % 4 === 0) {
        socket.write(HALF_A_HELLO);
        attacker.count("half a handshake");
        await attacker.rest(2_000);
      } else if (lane % 4 === 1) {
        socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
        attacker.count("plain");
        await attacker.rest(50);
      } else if (lane % 4 === 2) {
        socket.write(randomBytes(1_000));
        attacker.count("noise");
        await attacker.rest(50);
      } else {
        const secure = connect({ socket, rejectUnauthorized: false, maxVersion: "TLSv1.2" });
        secure.on("error", () => undefined);
        await once(secure, "secureConnect", { signal: attacker.signal });
        attacker.count("handshake");
        for (let again = 0; again < 10; again++) {
          const isRenewed = new Promise<boolean>((resolve) => {
            const isAsked = secure.renegotiate({}, (error) => resolve(error === null));
            if (isAsked !== true) resolve(false);
            secure.once("close", () => resolve(false));
          });
          if (!(await Promise.race([isRenewed, attacker.rest(500)]))) break;
          attacker.count("renegotiated");
        }
        secure.destroy();
      }
      socket.resetAndDestroy();
    });
  },
};
