import { newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { handoffIn, offersOf, World } from "../world-fixture.ts";
import { recordOf } from "../custody/handoff-record.ts";
import { HandoffGroups } from "./group.ts";

test("members that join a group at once see each other, however many other groups are read meanwhile", async () => {
  const world = await World.open();
  const owner = await world.publish("owner");
  const worker = await world.attach(await world.publish("worker", [{ name: "work" }]), 2);
  const group = { id: newId(), index: 0, size: 2, join: "all" } as const;
  await world.handOff(owner, { to: "worker", group });
  await world.handOff(owner, { to: "worker", group: { ...group, id: newId() } });
  await world.hub.close();
  const [first, second] = await Promise.all(
    offersOf(worker).map(async (offer) => {
      const { record } = recordOf((await world.store.handoff(offer.handoff_id))!);
      const joining = { ...record, group: { ...record.group!, id: group.id } };
      return { envelope: { ...handoffIn(offer), group }, record: joining };
    }),
  );

  const groups = new HandoffGroups(memoryStore(), 1);
  await groups.join(first!.envelope, first!.record);
  for (let count = 0; count < 10; count++) await groups.of("owner", newId());
  await expect(groups.join(second!.envelope, second!.record)).rejects.toMatchObject({
    status: 409,
  });
  groups.left(second!.record);

  groups.left(first!.record);
  await groups.join(second!.envelope, second!.record);
});
