import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const HANDOFFS = 20;

export const poison: AttackClass = {
  name: "poison",
  does: "recipients take what they are offered, drop the connection, and reattach as another process",
  from: ["elsewhere", "spread"],
  lands: ["dropped"],
  async run(attacker) {
    await attacker.crowd(12, async () => {
      const actor = await attacker.enrolled([
        { name: "work", lease_seconds: 0.1, max_attempts: 32 },
      ]);
      await attacker.times(HANDOFFS, 4, () => {
        const body = { capability: "work", contract: { lease_seconds: 0.1, max_attempts: 32 } };
        return attacker.submit(actor.handoff(actor.id, body).text);
      });
      await attacker.crowd(1, async () => {
        const line = await attach(attacker, actor, {
          credit: 100,
          delivered: (delivery, on) => {
            if (delivery["type"] !== "offer") return;
            const { handoff_id, attempt } = delivery;
            on.say({ type: "taken", handoff_id, attempt });
            attacker.count("dropped");
            setImmediate(() => on.web.socket.resetAndDestroy());
          },
        });
        await Promise.race([line.web.closed, attacker.rest(200)]);
        line.web.socket.resetAndDestroy();
      });
    });
  },
};
