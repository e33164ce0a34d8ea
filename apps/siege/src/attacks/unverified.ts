/// <reference types="node" />
import { randomBytes } from "node:crypto";
import { generateKey } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { unsigned } from "../toolkit/unsigned.ts";

/** As much JSON as an envelope holds, in as many pieces as possible. */
const COSTLY = `{"waybill":1,"kind":"handoff","body":[${"[],".repeat(240_000)}[]]}`;

export const unverified: AttackClass = {
  name: "unverified",
  does: "envelopes, manifests and proofs of 1 MB of JSON whose signatures are random, under known and unknown keys",
  from: ["elsewhere", "spread"],
  lands: ["envelope 401", "publish", "proof 401"],
  async run(attacker) {
    const actor = await attacker.enrolled();
    const forged = (kid: string, payload: string): string =>
      unsigned(kid, payload, randomBytes(64));
    const manifest = COSTLY.replace('"handoff"', '"manifest"');
    const small = JSON.stringify({
      waybill: 1,
      kind: "request",
      from: actor.id,
      pad: "x".repeat(6_000),
    });
    await attacker.crowd(8, async (lane, turn) => {
      const kid = turn % 2 === 0 ? actor.key.kid : generateKey().kid;
      if (lane % 4 === 3) {
        const path = `/v1/agents/${actor.id}`;
        await attacker.ask({ method: "PUT", path, body: { manifest: forged(kid, manifest) } });
        attacker.count("publish");
      } else if (lane % 4 === 2) {
        const authorization = `Waybill ${forged(kid, small)}`;
        await attacker.ask({ path: "/v1/inbox", headers: { authorization }, label: "proof" });
      } else await attacker.submit(forged(kid, COSTLY), "envelope");
    });
  },
};
