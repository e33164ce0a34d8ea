import type { AttackClass } from "../attack-class.ts";
import { RawWebSocket } from "../toolkit/web-socket.ts";

export const hellos: AttackClass = {
  name: "hellos",
  does: "sockets whose hello has the wrong nonce, hub, clock or key, or never comes",
  from: ["elsewhere", "beside", "spread"],
  lands: ["refused"],
  never: ["let in"],
  async run(attacker) {
    const actor = await attacker.enrolled();
    const stranger = attacker.actor();
    await attacker.crowd(32, async (_lane, turn) => {
      const web = await RawWebSocket.open(attacker);
      const { nonce } = JSON.parse(await web.next()) as { nonce: string };
      const instance = `i-${turn}`;
      const proofs: readonly (() => string)[] = [
        () => actor.hello("another", instance),
        () => actor.hello(nonce, instance, { to: "another" }),
        () => actor.hello(nonce, instance, { at: "2026-01-01T00:00:00.000Z" }),
        () => actor.hello(nonce, instance, { from: "honest-recipient" }),
        () => stranger.hello(nonce, instance),
        () => actor.hello(nonce, "i".repeat(500_000)),
        () => "x".repeat(900_000),
      ];
      const proof = proofs[turn % proofs.length]!();
      web.send(JSON.stringify({ type: "hello", proof, credit: 1 }));
      const answer = await Promise.race([web.next(), attacker.rest(2_000).then(() => "")]);
      attacker.count(answer.includes('"attached"') ? "let in" : "refused");
      web.socket.resetAndDestroy();
    });
  },
};
