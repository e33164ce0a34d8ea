import { WaybillError } from "./error.ts";

/** Names that reach an object's prototype in JavaScript: with them data becomes behaviour. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  "__proto__",
  "constructor",
  "prototype",
]);

export function isSafe(value: number): boolean {
  return value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;
}

export function isCleanText(text: string): boolean {
  return isWellFormed(text) && !text.includes("\0");
}

/** False for a text with half of a surrogate pair, which UTF-8 can't carry. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const STRING_ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Reads a text slowly, to throw the reason and the place of the first thing that `parseJson`
 * refuses. Returns when there is none. The depth was checked before.
 */
export function throwFault(text: string, cause?: unknown): void {
  let i = 0;
  const path: (string | number)[] = [];

  readValue();
  skipSpace();
  if (i < text.length) throw unexpected("the end");

  function readValue(): void {
    skipSpace();
    if (text[i] === "{") readMembers();
    else if (text[i] === "[") readItems();
    else if (text[i] === '"') readString();
    else readScalar();
  }

  function readMembers(): void {
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
      readValue();
      path.pop();
    }
  }

  function readItems(): void {
    i++;
    for (let index = 0; !ends("]", index === 0); index++) {
      path.push(index);
      readValue();
      path.pop();
    }
  }

  /** Steps over what stands before the next item: true after the bracket that closes them all. */
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

  function readScalar(): void {
    const [literal, fraction, exponent] = match(SCALAR) ?? [];
    if (literal === undefined) throw unexpected("a value");
    const size = Math.abs(Number(literal));
    if (size === Infinity) throw fault(`the number ${excerpt(literal)} is too large`);
    if (size > Number.MAX_SAFE_INTEGER && fraction === undefined && exponent === undefined) {
      throw fault(unsafe(literal));
    }
    i += literal.length;
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

/** One step of a JSON Pointer (RFC 6901). */
export function step(name: string | number): string {
  return `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function unsafe(literal: string): string {
  return `the integer ${excerpt(literal)} is beyond ±(2^53 - 1), where numbers lose digits; use a string`;
}

export function tooDeep(limit: number, where: string, pointer?: string): WaybillError {
  return new WaybillError(413, `The JSON is nested deeper than ${limit} levels${where}.`, {
    at: pointer,
  });
}

export function tooLong(length: number | undefined, limit: number, pointer?: string): WaybillError {
  const found = length === undefined ? "more" : `${length}`;
  return new WaybillError(413, `The JSON has ${found} characters, and the limit is ${limit}.`, {
    at: pointer,
  });
}

export function quote(text: string): string {
  return JSON.stringify(excerpt(text));
}

/** What strangers send must not make an error message long. */
function excerpt(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
