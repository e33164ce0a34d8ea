import type { AttackClass } from "../attack-class.ts";

const VERSIONS = 40;
const TEXT = "h".repeat(600_000);

export const manifestHistory: AttackClass = {
  name: "manifest-history",
  does: "an agent publishes 40 manifests of 0.8 MB; then strangers repeatedly request its whole history",
  from: ["elsewhere", "beside"],
  lands: ["publish 200", "asked"],
  async run(attacker) {
    const actor = attacker.actor();
    const half = attacker.leftMs / 2;
    // Each version refers to the one before, so they are sent in order.
    await attacker.times(VERSIONS, 1, async (version) => {
      if (attacker.leftMs < half) return;
      await attacker.publish(actor, [
        { name: "old", examples: [{ description: `${version}`, input: TEXT }] },
      ]);
    });
    await attacker.crowd(8, () => {
      attacker.count("asked");
      return attacker.ask({ path: `/.well-known/waybill/agents/${actor.id}`, label: "history" });
    });
  },
};
