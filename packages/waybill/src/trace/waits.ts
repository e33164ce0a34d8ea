import type { Style } from "../terminal/style.ts";
import { counted, printable } from "../terminal/text.ts";
import { hanging } from "../terminal/wrap.ts";
import type { TraceHandoff } from "./trace.ts";

const SHOWN = 5;
const INDENT = "  ";

/** Why a handoff has not been offered, in full: a shortened reason is useless. */
export function waitLines(
  { startsAt, waitsFor: waits }: Pick<TraceHandoff, "startsAt" | "waitsFor">,
  width: number,
  style: Style,
): string[] {
  const shown = waits.slice(0, SHOWN);
  const more = waits.length - shown.length;
  return [
    ...(startsAt === undefined ? [] : [`${style.warning("!")} held until ${timeText(startsAt)}`]),
    ...shown.flatMap(({ agent_id: agent, reason }) => {
      const says = hanging(`waits: ${agent} ${printable(reason)}`, width - 2, 0);
      const [first = "", ...rest] = says.split("\n");
      return [`${style.warning("!")} ${first}`, ...rest.map((line) => INDENT + line)];
    }),
    ...(more > 0 ? [style.faint(`${INDENT}and for ${counted(more, "other agent")}`)] : []),
  ];
}

function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
