import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import type { Known } from "../toolkit/actor.ts";
import { accept, pair } from "../toolkit/pair.ts";

const SIZE = 256;
const AT_ONCE = 16;
const HOPS = 16;
const CANCEL_EACH_MS = 500;

interface Part {
  readonly handoff: Known;
  readonly hop: number;
}

export const groups: AttackClass = {
  name: "groups",
  does: "an agent that works on its own handoffs splits each into a group of 256, recursively, 16 deep, and then cancels the first one",
  lands: ["offered", "child 200", "cancel 200"],
  async run(attacker) {
    const hops = new Map<string, number>();
    const taken: Part[] = [];
    const { recipient, line } = await pair(attacker, async (offer, own) => {
      if ((await accept(offer, own)) !== 200) return;
      const hop = hops.get(offer.handoff.handoffId) ?? 0;
      if (hop < HOPS) taken.push({ handoff: offer.handoff, hop });
    });
    const divide = async ({ handoff, hop }: Part): Promise<void> => {
      const group = { id: newId(), size: SIZE, join: "all" };
      await attacker.times(SIZE, AT_ONCE, async (index) => {
        const child = recipient.handoff(
          recipient.id,
          { capability: "work" },
          {
            parent_id: handoff.handoffId,
            correlation_id: handoff.correlationId,
            hop: hop + 1,
            group: { ...group, index },
            // Earlier than the deadline of its parent.
            withinMs: 50_000 - hop * 1_000,
          },
        );
        hops.set(child.handoffId, hop + 1);
        attacker.count(`child ${await line.call("submit", { envelope: child.text })}`);
      });
    };
    await attacker.crowd(4, async (lane) => {
      if (lane === 0) {
        const root = recipient.handoff(recipient.id, { capability: "work" });
        await attacker.submit(root.text, "root");
        await attacker.rest(CANCEL_EACH_MS);
        const cancel = recipient.about(root, "cancel", {}, { to: recipient.id, re: undefined });
        await attacker.submit(cancel, "cancel");
        return;
      }
      // The deepest first.
      const part = taken.pop();
      if (part === undefined) await attacker.rest(5);
      else await divide(part);
    });
  },
};
