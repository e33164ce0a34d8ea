import { isAgentId, WaybillError } from "@waybill/protocol";
import { commitOne } from "../commit-each.ts";
import type { Engine } from "../engine/engine.ts";
import type { SettingChange } from "../store.ts";
import { actEntry } from "./act.ts";
import type { Act } from "./act.ts";
import { pinSetting, retiredSetting } from "./pins.ts";

/** Pins a new key to an agent, and ends its earlier keys in the same commit. */
export async function pinKey(engine: Engine, agent: string, kid: string): Promise<void> {
  const record = await engine.registry.keyOf(kid);
  if (record?.agent === agent && record.notAfter <= engine.clock.now()) {
    throw new WaybillError(
      409,
      `The key ${kid} of ${agent} has ended, and an ended key never becomes valid again. Create a new one (waybill keys new <file>) and pin its thumbprint.`,
    );
  }
  await endKeys(engine, agent, { kept: kid, isRetired: false }, async () => {
    const name = pinSetting(agent);
    const from = (await engine.store.setting(name)) ?? null;
    const retired = await cleared(engine, retiredSetting(agent));
    if (from === kid && retired.length === 0) return undefined;
    const settings = [{ name, from, to: kid }, ...retired];
    return { act: { type: "pinned", agent, kid }, settings };
  });
}

/** Retires an agent, and ends its keys in the same commit. */
export async function retireAgent(engine: Engine, agent: string): Promise<void> {
  const { id, dispatcher, router } = engine;
  if (agent === id) {
    throw new WaybillError(403, `${id} is this hub, which can't retire itself: stop it instead.`);
  }
  const targets = await router.targetsOf(agent);
  await endKeys(engine, agent, { isRetired: true }, async () => {
    const name = retiredSetting(agent);
    if ((await engine.store.setting(name)) !== undefined) return undefined;
    const pinned = await cleared(engine, pinSetting(agent));
    const settings = [{ name, from: null, to: "{}" }, ...pinned];
    return { act: { type: "retired", agent }, settings };
  });
  engine.inBackground(dispatcher.rerouteWaiting(targets));
}

/** Removes a setting, if it is there. */
async function cleared(engine: Engine, name: string): Promise<readonly SettingChange[]> {
  const from = await engine.store.setting(name);
  return from === undefined ? [] : [{ name, from, to: null }];
}

/**
 * Revokes keys of an agent together with an operator's decision about it; undefined if that is
 * already so.
 */
async function endKeys(
  engine: Engine,
  agent: string,
  how: { readonly kept?: string; readonly isRetired: boolean },
  decide: () => Promise<
    { readonly act: Act; readonly settings: readonly SettingChange[] } | undefined
  >,
): Promise<void> {
  const { registry, keys: watch, clock } = engine;
  for (;;) {
    engine.assertOpen();
    const at = clock.now();
    const keys = await registry.endKeys(agent, at, how);
    if (keys === undefined) {
      const name = isAgentId(agent) ? agent : "of this name";
      throw new WaybillError(
        404,
        `No agent ${name} is enrolled here. To list the agents: waybill agents`,
      );
    }
    const decided = await decide();
    if (decided === undefined) return;
    const { act, settings } = decided;
    const commit = { handoff: null, keys, settings, entries: [actEntry(at, act)] };
    const outcome = await commitOne(engine.writer, commit).finally(() => registry.forget(agent));
    if (outcome.type === "committed") break;
    // Its next manifest came in between, or another operator's decision.
  }
  await watch.check(agent);
}
