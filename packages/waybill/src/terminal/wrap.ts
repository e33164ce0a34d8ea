import { padded, widthOf } from "./text.ts";
import { withoutColors } from "./unseen.ts";

/** Text continues below the first word of its line, unless that would leave less than this. */
const ROOM_MIN = 24;

/**
 * Breaks long lines between words and never inside of one, so that ids, paths and addresses can be
 * copied. A word that is wider than the terminal gets a line of its own.
 */
export function wrapped(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split("\n")
    .map((line) => wrappedLine(line, width))
    .join("\n");
}

/** Signs that a line begins with; its continuation stands below what follows them. */
const LEAD = /^[✔✗!●○·→?▌↻…\s]*/u;

function wrappedLine(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  return hanging(line, width, continuationOf(withoutColors(line), width));
}

/** Where the text of a line begins: after its indent, its sign, and the columns that are set off by two spaces. */
function continuationOf(plain: string, width: number): number {
  const gaps = [...plain.matchAll(/\S( {2,})(?=\S)/g)].map(
    ({ index, 0: gap }) => index + gap.length,
  );
  const start = gaps.findLast((end) => widthOf(plain.slice(0, end)) <= width / 2) ?? 0;
  const column = start + LEAD.exec(plain.slice(start))![0].length;
  const indent = widthOf(plain.slice(0, column));
  return width - indent < ROOM_MIN ? 0 : indent;
}

/** Breaks one line; what follows begins in column `indent`. */
export function hanging(line: string, width: number, indent: number): string {
  const margin = " ".repeat(indent);
  const lines: string[] = [];
  let current = "";
  let isFresh = true;
  for (const [, space = "", word = ""] of line.matchAll(/( *)([^ ]*)/g)) {
    if (space === "" && word === "") continue;
    const longer = current + space + word;
    if (isFresh || widthOf(longer) <= width) {
      current = longer;
      isFresh &&= word === "";
      continue;
    }
    lines.push(current);
    // At the margin there may be no room for it, where there is some from the left edge.
    current = indent + widthOf(word) > width ? word : margin + word;
  }
  return [...lines, current].join("\n");
}

/** A command line in as many lines as it needs, to be pasted as it stands. */
export function commandWrapped(line: string, width: number, indent: number): string {
  const margin = " ".repeat(indent);
  if (indent + line.length <= width) return margin + line;
  const lines: string[] = [];
  let current = "";
  for (const word of pastedWords(line)) {
    const longer = current === "" ? word : `${current} ${word}`;
    const own = lines.length === 0 ? indent : indent + 2;
    if (current !== "" && own + longer.length + 2 > width) {
      lines.push(current);
      current = word;
    } else current = longer;
  }
  return [...lines, current]
    .map((each, index) => margin + (index === 0 ? "" : "  ") + each)
    .join(" \\\n");
}

/** An option stays with its value, and what stands in quotes stays together. */
function pastedWords(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.reduce<string[]>((all, word) => {
    const last = all.at(-1);
    const isValue = last !== undefined && /^--[\w-]+$/.test(last) && !word.startsWith("-");
    return isValue ? [...all.slice(0, -1), `${last} ${word}`] : [...all, word];
  }, []);
}

/** Text in a column beside its name, wrapped below itself. */
export function beside(name: string, nameWidth: number, text: string, width: number): string {
  const line = `${padded(name, nameWidth)}  ${text}`;
  if (!Number.isFinite(width)) return line;
  const indent = nameWidth + 2;
  if (width - indent < ROOM_MIN) {
    return `${name}\n${hanging(`    ${text}`, width, 4)}`;
  }
  const [first = "", ...more] = text.split("\n");
  const lines = hanging(`${padded(name, nameWidth)}  ${first}`, width, indent);
  return [lines, ...more.map((each) => hanging(" ".repeat(indent) + each, width, indent))].join(
    "\n",
  );
}
