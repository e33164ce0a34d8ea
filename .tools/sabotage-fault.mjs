// The table of planted faults beside an adapter's fixture, sabotage.json.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The source with the fault in it. Throws if the text to replace is missing or occurs twice. */
export function planted(source, { name, file, from, to }) {
  const found = source.split(from).length - 1;
  if (found === 1) return source.replace(from, () => to);
  throw new Error(
    `The fault "${name}" does not fit ${file} any more: its text occurs ${found} times there, and has to occur once. Fit it to the source again.`,
  );
}

/**
 * The faults of an adapter, each with the absolute paths of its file and of the fixture that must
 * detect it; undefined if there is no table.
 */
export function faultsBeside(fixture) {
  const table = join(dirname(fixture), "sabotage.json");
  if (!existsSync(table)) return undefined;
  const faults = JSON.parse(readFileSync(table, "utf8")).map((fault) => ({
    ...fault,
    file: join(dirname(table), fault.file),
    fixture: fault.fixture === undefined ? fixture : join(dirname(table), fault.fixture),
  }));
  for (const fault of faults) planted(readFileSync(fault.file, "utf8"), fault);
  return faults;
}
