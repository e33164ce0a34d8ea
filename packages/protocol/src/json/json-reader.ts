import { WaybillError } from "../error.ts";
import { losesFraction } from "./json-number.ts";
import {
  FORBIDDEN_NAMES,
  excerpt,
  isSafe,
  isWellFormed,
  quote,
  step,
  unsafe,
} from "./json-rules.ts";
import type { Json } from "./json-rules.ts";

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORDS: ReadonlyMap<string, Json> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
] as const);
const STRING_ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Reads JSON without the engine's parser: slower, but it throws the reason and the place of the first
 * fault. The depth must have been checked before.
 */
export function readJson(text: string, cause?: unknown): Json {
  let i = 0;
  const path: (string | number)[] = [];

  const root = readValue();
  skipSpace();
  if (i < text.length) throw unexpected("the end");
  return root;

  function readValue(): Json {
    skipSpace();
    if (text[i] === "{") return readMembers();
    if (text[i] === "[") return readItems();
    return text[i] === '"' ? readString() : readScalar();
  }

  function readMembers(): Json {
    const members: { [name: string]: Json } = {};
    const names = new Set<string>();
    i++;
    while (!ends("}", names.size === 0)) {
      skipSpace();
      if (text[i] !== '"') throw unexpected("the name of a member");
      const name = readString();
      path.push(name);
      if (names.has(name)) throw fault(`the member ${quote(name)} stands twice in one object`);
      if (FORBIDDEN_NAMES.has(name)) throw fault(`the name ${quote(name)} is not allowed`);
      names.add(name);
      skipSpace();
      if (text[i] !== ":") throw unexpected("a colon");
      i++;
      members[name] = readValue();
      path.pop();
    }
    return members;
  }

  function readItems(): Json {
    const items: Json[] = [];
    i++;
    while (!ends("]", items.length === 0)) {
      path.push(items.length);
      items.push(readValue());
      path.pop();
    }
    return items;
  }

  /** Skips what precedes the next item: true after the closing bracket. */
  function ends(bracket: string, isFirst: boolean): boolean {
    skipSpace();
    if (text[i] === bracket) {
      i++;
      return true;
    }
    if (isFirst) return false;
    if (text[i] !== ",") throw unexpected(`a comma or ${bracket}`);
    i++;
    return false;
  }

  function readString(): string {
    const start = i;
    for (i++; text[i] !== '"'; i++) {
      if (i >= text.length) throw fault(`the string that starts at character ${start} has no end`);
      if (text.charCodeAt(i) < 0x20) throw fault(`character ${i} must be written as an escape`);
      if (text[i] !== "\\") continue;
      const escape = match(STRING_ESCAPE);
      if (escape === null) throw fault(`character ${i} starts an escape that JSON does not have`);
      i += escape[0].length - 1;
    }
    const value = JSON.parse(text.slice(start, ++i)) as string;
    if (!isWellFormed(value)) {
      throw fault(`the string at character ${start} has half of a surrogate pair`);
    }
    if (value.includes("\0")) throw fault(`the string at character ${start} has a NUL`);
    return value;
  }

  function readScalar(): Json {
    const [literal, fraction, exponent] = match(SCALAR) ?? [];
    if (literal === undefined) throw unexpected("a value");
    const word = WORDS.get(literal);
    const value = word === undefined ? Number(literal) : word;
    if (typeof value === "number") {
      if (!Number.isFinite(value)) throw fault(`the number ${excerpt(literal)} is too large`);
      if (!isSafe(value) && fraction === undefined && exponent === undefined) {
        throw fault(unsafe(literal));
      }
      if (losesFraction(literal)) {
        throw fault(
          `the number ${excerpt(literal)} is not whole, and the double that is nearest to it is ${value}; use a string where the digits count`,
        );
      }
    }
    i += literal.length;
    return value;
  }

  function skipSpace(): void {
    i += match(SPACE)![0].length;
  }

  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = i;
    return pattern.exec(text);
  }

  function unexpected(wanted: string): WaybillError {
    if (i >= text.length) return fault(`it ends before ${wanted}`);
    return fault(`character ${i} is ${quote(text[i]!)}, not ${wanted}`);
  }

  function fault(what: string): WaybillError {
    return new WaybillError(400, `The JSON is refused: ${what}.`, {
      at: path.map(step).join(""),
      cause,
    });
  }
}
