import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import { accept, pair } from "../toolkit/pair.ts";

const ENTRIES = 2_000;
const AT_ONCE = 20;

export const repetitions: AttackClass = {
  name: "repetitions",
  does: "a handoff collects a history of thousands of entries; then its oldest envelopes are resent without a pause",
  lands: ["progress 200", "again 200"],
  async run(attacker) {
    const half = attacker.leftMs / 2;
    await attacker.crowd(2, async () => {
      const sent: string[] = [];
      const ready = Promise.withResolvers<void>();
      const both = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        while (sent.length < ENTRIES && attacker.leftMs > half) {
          const envelopes = Array.from({ length: AT_ONCE }, () =>
            own.recipient.about(
              offer.handoff,
              "progress",
              { fraction: 0.5 },
              { attempt: offer.attempt },
            ),
          );
          const calls = envelopes.map((envelope) => own.line.call("submit", { envelope }));
          for (const status of await Promise.all(calls)) attacker.count(`progress ${status}`);
          sent.push(...envelopes);
        }
        ready.resolve();
      });
      const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      await ready.promise;
      const line = await attach(attacker, both.delegator);
      for (let turn = 0; !attacker.isOver; turn++) {
        const calls = Array.from({ length: AT_ONCE }, (_, index) => {
          const envelope = sent[(turn + index) % sent.length]!;
          return line.call("submit", { envelope });
        });
        for (const status of await Promise.all(calls)) attacker.count(`again ${status}`);
      }
    });
  },
};
