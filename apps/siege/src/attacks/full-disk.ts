import type { AttackClass } from "../attack-class.ts";

const MEGABYTE = 1024 * 1024;

export const fullDisk: AttackClass = {
  name: "full-disk",
  does: "handoffs of 0.7 MB until the disk is full, and beyond; then space is freed, and nothing that was confirmed may be lost",
  lands: ["submit 200", "submit 503"],
  never: ["submit 500"],
  hub: { diskBytes: [24 * MEGABYTE, 512 * MEGABYTE] },
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "work" }]);
    const input = "f".repeat(500_000);
    await attacker.crowd(4, () => {
      const { text } = actor.handoff(actor.id, { capability: "work", input });
      return attacker.submit(text);
    });
  },
};
