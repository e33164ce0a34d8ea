import type { HandoffState } from "@waybill/protocol";
import type { Style } from "../terminal/style.ts";
import type { Tone } from "./trace.ts";

export const STATE_SIGNS: Readonly<Record<HandoffState, { sign: string; tone: Tone }>> = {
  open: { sign: "●", tone: "warning" },
  completed: { sign: "✔", tone: "good" },
  failed: { sign: "✗", tone: "bad" },
  cancelled: { sign: "○", tone: "warning" },
  dead_lettered: { sign: "✗", tone: "bad" },
};

export function toned(tone: Tone, text: string, style: Style): string {
  return tone === "step" ? text : style[tone](text);
}
