// The documented output of commands in READMEs, and their actual output.
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

/** The width of output in a README: that of a usual terminal. */
const COLUMNS = 80;

/** Runs a command in a terminal of `COLUMNS`, where it also shows its progress. */
export function inTerminal(command) {
  const line = `stty cols ${COLUMNS} rows 50; exec ${command}`;
  return `script -qec '${line.replaceAll("'", "'\\''")}' /dev/null`;
}

/** The lines that remain on the screen: later output replaces a status line. */
export function leftOnScreen(said) {
  return said
    .split("\n")
    .map((line) => line.split("\r\u001b[K").at(-1).replace(/\r$/, "").replace("^C", "").trimEnd())
    .join("\n")
    .trim();
}

/** The output that a text shows for each command in its `text` blocks. */
export function outputsIn(markdown) {
  const blocks = [...markdown.matchAll(/^```text\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, block]) =>
    block
      .split(/^(?=\$ )/m)
      .map((part) => /^\$ (.*)\n([\s\S]*)$/.exec(part))
      .filter((found) => found !== null)
      .map(([, command, output]) => ({ command, output: output.trim() })),
  );
}

/** The text with other output for a command. */
export function withOutput(markdown, command, output) {
  const start = markdown.indexOf(`$ ${command}\n`) + `$ ${command}\n`.length;
  const rest = markdown.slice(start);
  const [before] = /^[\s\S]*?(?=^\$ |^```$)/m.exec(rest);
  const gap = rest.slice(before.length).startsWith("$ ") ? "\n\n" : "\n";
  return markdown.slice(0, start) + output + gap + rest.slice(before.length);
}

/** Removes what differs from run to run: times, ids, keys, and the widths that depend on them. */
export function lasting(output) {
  return output
    .replaceAll(UUID, "<id>")
    .replaceAll(/hub-[0-9a-f]{12}/g, "<hub>")
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "<at>")
    .replaceAll(/^\d\d:\d\d:\d\d\.\d{3} {2}[0-9a-f ]{6}/gm, "<at>")
    .replaceAll(/(?<=#\/in\/)[\w-]{22}/g, "<code>")
    .replaceAll(/✔ [\w-]{8}(?=( ✔ receipt)?$)/gm, "✔ <key>")
    .replaceAll(/\+?\d+(\.\d+)? (ms|s|min)\b/g, "<time>")
    .replaceAll(/[━╳·╌][━╳·╌ ]*/g, "<bar> ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
