import type { Random } from "./random.ts";

// Inputs that have broken parsers before. Whole words, so that a mutation reaches deeper than a bit
// flip.
const NASTY = [
  '"__proto__":{},',
  '"constructor":1,',
  "1e400",
  "9007199254740993",
  "-0",
  "null",
  "\\ud800",
  "\\u0000",
  "\u0000",
  "\ufeff",
  "[".repeat(70),
  '{"a":'.repeat(70),
  '"kind":"result",',
  '"waybill":2,',
  "{}",
  "[]",
  '""',
  ",",
  ":",
  "\\",
  '"',
  "=",
  ".",
  "..",
  "%00",
  "é",
  "\u{1f9fe}",
  "x".repeat(5000),
  "2026-02-30T00:00:00Z",
  '"$ref":"#",',
  '"$ref":"http://127.0.0.1/",',
  '"pattern":"^(a+)+$",',
  '"type":',
  "true",
  "1e-7",
  "-1",
];

type Mutation = (text: string, random: Random) => string;

const MUTATIONS: readonly Mutation[] = [
  // one character changed
  (text, random) => {
    const at = random.below(text.length + 1);
    return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
  },
  // a piece removed
  (text, random) => {
    const at = random.below(text.length + 1);
    return text.slice(0, at) + text.slice(at + 1 + random.below(16));
  },
  // a piece repeated
  (text, random) => {
    const at = random.below(text.length + 1);
    const piece = text.slice(at, at + 1 + random.below(64));
    return text.slice(0, at) + piece + text.slice(at);
  },
  // a piece moved
  (text, random) => {
    const at = random.below(text.length + 1);
    const piece = text.slice(at, at + 1 + random.below(64));
    const rest = text.slice(0, at) + text.slice(at + piece.length);
    const to = random.below(rest.length + 1);
    return rest.slice(0, to) + piece + rest.slice(to);
  },
  // a hostile piece inserted
  (text, random) => {
    const at = random.below(text.length + 1);
    return text.slice(0, at) + random.pick(NASTY) + text.slice(at);
  },
  // a JSON value replaced by a hostile one
  (text, random) => {
    const places = [...text.matchAll(/:/g)];
    const place = places.length === 0 ? undefined : random.pick(places);
    if (place === undefined) return text;
    const end = text.slice(place.index + 1).search(/[,}\]]/);
    return (
      text.slice(0, place.index + 1) +
      random.pick(NASTY) +
      text.slice(place.index + 1 + Math.max(0, end))
    );
  },
  // cut off
  (text, random) => text.slice(0, random.below(text.length + 1)),
];

/** One to four changes at random places. */
export function mutate(text: string, random: Random): string {
  let mutated = text;
  for (let count = 1 + random.below(4); count > 0; count--) {
    mutated = random.pick(MUTATIONS)(mutated, random);
  }
  return mutated;
}

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  1e300,
  "",
  "x",
  "editor",
  "Editor",
  "é",
  "2026-11-18T08:00:01Z",
  "2026-02-30T00:00:00Z",
  "01980000-0000-7000-8000-000000000001",
  [],
  {},
  [[]],
  { a: 1 },
  "handoff",
  "result",
  200,
  500,
  409,
  65_536,
  "x".repeat(300),
  { $ref: "#" },
  { type: "string" },
  "^(a+)+$",
  "https://example.com/x",
];

/**
 * Changes the tree and not the text: the result is still JSON, so it passes the parser and reaches the
 * code that reads the members.
 */
export function mutateTree(text: string, random: Random): string {
  const root: unknown = JSON.parse(text);
  const places: { holder: Record<string, unknown>; name: string }[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const name of Object.keys(holder)) {
      places.push({ holder, name });
      collect(holder[name]);
    }
  };
  collect(root);
  if (places.length === 0) return text;
  const { holder, name } = random.pick(places);
  const other = random.pick(places);
  switch (random.below(5)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(name), 1);
      else delete holder[name];
      break;
    case 1:
      holder[name] = structuredClone(other.holder[other.name]);
      break;
    case 2:
      if (!Array.isArray(holder))
        holder[random.pick(["kind", "x", "status", "to", "re", "type", other.name])] =
          random.pick(VALUES);
      break;
    default:
      holder[name] = random.pick(VALUES);
  }
  return JSON.stringify(root);
}
