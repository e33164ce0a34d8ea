import type { WaitsFor } from "@waybill/protocol/api";
import type { Style } from "../terminal/style.ts";
import { counted, printable, widthOf } from "../terminal/text.ts";

const SHOWN = 5;
const INDENT = "  ";

/** Why a handoff has not been offered, whole: a reason that is cut off helps nobody. */
export function waitLines(waits: readonly WaitsFor[], width: number, style: Style): string[] {
  const shown = waits.slice(0, SHOWN);
  const more = waits.length - shown.length;
  return [
    ...shown.flatMap(({ agent_id: agent, reason }) => {
      const [first = "", ...rest] = wrapped(`waits: ${agent} ${printable(reason)}`, width - 2);
      return [`${style.warning("!")} ${first}`, ...rest.map((line) => INDENT + line)];
    }),
    ...(more > 0 ? [style.faint(`${INDENT}and for ${counted(more, "other agent")}`)] : []),
  ];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
