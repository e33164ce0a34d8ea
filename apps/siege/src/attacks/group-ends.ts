import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { pair } from "../toolkit/pair.ts";

const SIZE = 256;
const AT_ONCE = 64;

export const groupEnds: AttackClass = {
  name: "group-ends",
  does: "groups of 256 are handed off, and all of their members end in quick succession",
  from: ["elsewhere", "spread"],
  lands: ["member 200", "result 200"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const { recipient, line } = await pair(attacker, async ({ handoff, attempt }, own) => {
        const body = { status: 200, output: 1 };
        const envelope = own.recipient.about(handoff, "result", body, { attempt });
        own.line.say({ type: "taken", handoff_id: handoff.handoffId, attempt });
        attacker.count(`result ${await own.line.call("submit", { envelope })}`);
      });
      while (!attacker.isOver) {
        const group = { id: newId(), size: SIZE, join: "all" };
        const correlation = newId();
        await attacker.times(SIZE, AT_ONCE, async (index) => {
          const { text } = recipient.handoff(
            recipient.id,
            { capability: "work" },
            { correlation_id: correlation, group: { ...group, index } },
          );
          attacker.count(`member ${await line.call("submit", { envelope: text })}`);
        });
      }
    });
  },
};
