const LINE = 18;
const CHARACTER = 7.83;
const MARGIN = 18;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const INK = "#d7dae0";

/** The meaning of a terminal's codes: a colour, or a weight. */
const CODES: Readonly<Record<string, string>> = {
  "1": "font-weight:bold",
  "2": "opacity:.6",
  "31": "fill:#ff7b72",
  "32": "fill:#56d364",
  "33": "fill:#e3b341",
  "34": "fill:#79c0ff",
  "35": "fill:#d2a8ff",
  "36": "fill:#39c5cf",
};
const ENDS: Readonly<Record<string, readonly string[]>> = {
  "0": Object.keys(CODES),
  "22": ["1", "2"],
  "39": ["31", "32", "33", "34", "35", "36"],
};

/** A terminal's output as an image that a web page can show and a reader can search. */
export function pictureOf(output: string): string {
  const lines = output.replaceAll("\r", "").trimEnd().split("\n");
  const spoken = lines.map((line) => piecesOf(line));
  const columns = Math.max(...spoken.map((pieces) => widthOf(pieces)));
  const width = Math.ceil(columns * CHARACTER) + 2 * MARGIN;
  const height = lines.length * LINE + 2 * MARGIN;
  const rows = spoken.map((pieces, index) => rowOf(pieces, MARGIN + (index + 0.75) * LINE));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    `<g font-family="${FONT}" font-size="13" fill="${INK}">`,
    ...rows.filter((row) => row !== ""),
    "</g></svg>\n",
  ].join("\n");
}

interface Piece {
  readonly text: string;
  readonly style: string;
}

function piecesOf(line: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let active: readonly string[] = [];
  // oxlint-disable-next-line no-control-regex
  for (const [index, text] of line.split(/\u001b\[([\d;]*)m/).entries()) {
    if (index % 2 === 0) {
      const style = active.map((code) => CODES[code]).join(";");
      const last = pieces.at(-1);
      if (last?.style === style) pieces[pieces.length - 1] = { text: last.text + text, style };
      else if (text !== "") pieces.push({ text, style });
    } else {
      for (const code of text.split(";")) {
        const ended = ENDS[code || "0"];
        active = ended ? active.filter((each) => !ended.includes(each)) : [...active, code];
        active = active.filter((each) => Object.hasOwn(CODES, each));
      }
    }
  }
  return pieces;
}

/**
 * Each word is placed at its column, because the widths of characters and spaces vary between fonts
 * and renderers.
 */
function rowOf(pieces: readonly Piece[], y: number): string {
  let column = 0;
  const spans: string[] = [];
  for (const { text, style } of pieces) {
    const styled = style === "" ? "" : ` style="${style}"`;
    for (const words of text.split(/( {2,}|^ | $)/)) {
      const x = (MARGIN + column * CHARACTER).toFixed(1);
      const length = [...words].length;
      column += length;
      if (words.trim() === "") continue;
      const wide = (length * CHARACTER).toFixed(1);
      spans.push(`<text x="${x}" y="${y}" textLength="${wide}"${styled}>${escaped(words)}</text>`);
    }
  }
  return spans.join("");
}

function widthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((width, { text }) => width + [...text].length, 0);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
