import { digestOf } from "@waybill/protocol";
import type { Quota } from "@waybill/protocol/wire";
import type { NewEntry } from "../store.ts";

/** A ledger entry about admission: a decision of an operator, or how an agent was admitted. */
export type Act =
  | {
      readonly type: "invited";
      readonly invitation: string;
      readonly agent?: string | undefined;
      readonly expires_at: string;
    }
  | { readonly type: "revoked"; readonly invitation: string }
  | { readonly type: "allowed"; readonly who: string }
  | { readonly type: "pinned"; readonly agent: string; readonly kid: string }
  | {
      readonly type: "group_changed";
      readonly group: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  | ({ readonly type: "group_quota"; readonly group: string } & Quota)
  | { readonly type: "group_removed"; readonly group: string }
  /** The agent has published with the key that was pinned to it. */
  | { readonly type: "repinned"; readonly agent: string; readonly kid: string }
  /** The agent is retired: its keys are refused, and it takes no work. */
  | { readonly type: "retired"; readonly agent: string }
  /** The agent continues with a new key, by its recovery key. */
  | { readonly type: "recovered"; readonly agent: string; readonly kid: string }
  | {
      readonly type: "enrolled";
      readonly agent: string;
      readonly kid: string;
      readonly by: "allow_list" | "invitation";
      readonly invitation?: string | undefined;
    };

export function actEntry(at: number, act: Act): NewEntry {
  const content = JSON.stringify(act);
  return {
    at,
    handoffId: null,
    type: "decision",
    content,
    digest: digestOf(content),
    replayKey: null,
  };
}
