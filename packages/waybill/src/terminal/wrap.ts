import { padded, widthOf } from "./text.ts";
import { withoutColors } from "./unseen.ts";

/** Text continues below the first word of its line, unless that leaves fewer columns than this. */
const ROOM_MIN = 24;

/**
 * Wraps long lines between words and never inside one, so that ids, paths and addresses can be
 * copied. A word that is wider than the terminal gets its own line.
 */
export function wrapped(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split("\n")
    .map((line) => wrappedLine(line, width))
    .join("\n");
}

/** Symbols at the start of a line; the continuation starts below the text after them. */
const LEAD = /^[✔✗!●○·→?▌↻…\s]*/u;

function wrappedLine(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  return hanging(line, width, continuationOf(withoutColors(line), width));
}

/**
 * The column where a line's text starts: after its indent, its symbol, and columns separated by two
 * spaces.
 */
function continuationOf(plain: string, width: number): number {
  const gaps = [...plain.matchAll(/\S( {2,})(?=\S)/g)].map(
    ({ index, 0: gap }) => index + gap.length,
  );
  const start = gaps.findLast((end) => widthOf(plain.slice(0, end)) <= width / 2) ?? 0;
  const column = start + LEAD.exec(plain.slice(start))![0].length;
  const indent = widthOf(plain.slice(0, column));
  return width - indent < ROOM_MIN ? 0 : indent;
}

/** Wraps one line; its continuation starts in column `indent`. */
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
    // A word that does not fit after the margin may fit from the left edge.
    current = indent + widthOf(word) > width ? word : margin + word;
  }
  return [...lines, current].join("\n");
}

/** Splits a command line into as many lines as it needs, to be pasted unchanged. */
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

/** An option stays with its value, and quoted text stays together. */
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
