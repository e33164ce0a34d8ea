import { WaybillError } from "@waybill/protocol";
import { commitOne } from "../commit-each.ts";
import type { Engine } from "../engine/engine.ts";
import type { SettingChange } from "../store.ts";
import { actEntry } from "./act.ts";
import type { Act } from "./act.ts";

/** Records an operator's decision, together with its changes. */
export async function recordAct(
  engine: Engine,
  act: Act,
  ...settings: readonly SettingChange[]
): Promise<void> {
  engine.assertOpen();
  const entries = [actEntry(engine.clock.now(), act)];
  const outcome = await commitOne(engine.writer, { handoff: null, settings, entries });
  if (outcome.type === "committed") return;
  throw changedMeanwhile();
}

export function changedMeanwhile(): WaybillError {
  return new WaybillError(
    503,
    "Another operator changed this at the same time. Check the current state, and try again.",
  );
}
