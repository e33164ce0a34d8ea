import { WaybillError } from "../error.ts";
import { numberAt } from "./json-number.ts";
import { isPlain, toPlain } from "./json-plain.ts";
import type { PlainBudget } from "./json-plain.ts";
import { readJson } from "./json-reader.ts";
import {
  FORBIDDEN_NAMES,
  isCleanText,
  isSafe,
  isWellFormed,
  tooDeep,
  tooLong,
} from "./json-rules.ts";
import type { Json } from "./json-rules.ts";
import { LIMITS } from "../limits.ts";
import type { Limits } from "../limits.ts";

export type { Json };

/** However high the limit is set: whatever walks a value must stay far from the end of the stack. */
const DEPTH_MAX = 1000;

/**
 * Reads JSON that means the same to every reader: no member twice, no forbidden name, no number that
 * is another one as a double, no text that is not Unicode, nothing deeper than the limit.
 */
export function parseJson(text: string, limits: Partial<Limits> = LIMITS): Json {
  const { jsonDepth, envelopeBytes } = boundsOf(limits);
  if (typeof text !== "string") {
    throw new WaybillError(400, `JSON must be a string, but this is ${typeof text}.`, { at: "" });
  }
  if (text.length > envelopeBytes) throw tooLong(text.length, envelopeBytes);
  if (!isWellFormed(text)) {
    throw new WaybillError(400, "The JSON has a lone surrogate.", { at: "" });
  }
  const { members, hasEscapedName, hasLostFraction } = survey(text, jsonDepth);
  if (hasEscapedName || hasLostFraction) return readJson(text);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    readJson(text, cause);
    throw new WaybillError(400, "This is not JSON.", { at: "", cause });
  }
  return isSound(value, members, text.includes("\\u")) ? value : readJson(text);
}

/**
 * Writes a value as JSON that `parseJson` reads back, or says which place has no faithful spelling.
 * Members that are undefined are left out; `toJSON` is honoured.
 */
export function stringifyJson(value: unknown, limits: Partial<Limits> = LIMITS): string {
  const { jsonDepth, envelopeBytes } = boundsOf(limits);
  const budget: PlainBudget = { jsonDepth, envelopeBytes, values: envelopeBytes };
  // The quick walk sees no strings; an escape in what was written shows that some need a look.
  let text =
    value !== undefined && isPlain(value, jsonDepth, budget) ? JSON.stringify(value) : undefined;
  if (text === undefined || text.includes("\\u")) {
    budget.values = envelopeBytes;
    text = JSON.stringify(toPlain(value, undefined, budget));
  }
  if (text.length > envelopeBytes) throw tooLong(text.length, envelopeBytes);
  return text;
}

interface Survey {
  /** How many members the text has, if it turns out to be JSON. */
  readonly members: number;
  /**
   * The parser of V8 since 12.8 can take a name that has an escape for another one that it saw
   * before: in Node 24, after `{"a":1,"\\":0}`, it reads the second name of `{"a":1,"\"":0}` as a
   * backslash (nodejs/node#63785). One sender could so change what is read from another, which is
   * why such a text never reaches it.
   */
  readonly hasEscapedName: boolean;
  /** A number that is not whole reads as one that is: the parser has no way to tell. */
  readonly hasLostFraction: boolean;
}

/** One look over a text before the parser has it, which also keeps all that is too deep from it. */
function survey(text: string, depthMax: number): Survey {
  let members = 0;
  let depth = 0;
  let hasEscapedName = false;
  let hasLostFraction = false;
  let stringStart = 0;
  let escape = positionOr(Infinity, text.indexOf("\\"));
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        stringStart = i;
        i = positionOr(text.length, endOfString(text, i));
        break;
      case 0x3a: // :
        members++;
        if (escape < stringStart) escape = positionOr(Infinity, text.indexOf("\\", stringStart));
        if (escape < i) hasEscapedName = true;
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > depthMax) throw tooDeep(depthMax, `, at character ${i}`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2e: // .
      case 0x45: // E
      case 0x65: {
        // e, of true and false too
        const isOfNumber = text.charCodeAt(i) === 0x2e || text.charCodeAt(i - 1) <= 0x39;
        if (!isOfNumber) break;
        const { end, isLost } = numberAt(text, i);
        i = end;
        hasLostFraction ||= isLost;
      }
    }
  }
  return { members, hasEscapedName, hasLostFraction };
}

function positionOr(otherwise: number, position: number): number {
  return position < 0 ? otherwise : position;
}

/** Where the string that starts at `start` has its closing quote, or -1. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

/** Whether the quick look is enough. False is no verdict yet: `readJson` gives it. */
function isSound(root: Json, members: number, hasEscapes: boolean): boolean {
  const pending: (Json[] | { [name: string]: Json })[] = [[root]];
  let found = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const isArray = Array.isArray(node);
    const names = isArray ? undefined : Object.keys(node);
    const length = names?.length ?? (node as Json[]).length;
    if (names !== undefined) found += length;
    for (let i = 0; i < length; i++) {
      let value: Json;
      if (names === undefined) {
        value = (node as Json[])[i]!;
      } else {
        const name = names[i]!;
        if (FORBIDDEN_NAMES.has(name) || (hasEscapes && !isCleanText(name))) return false;
        value = (node as { [name: string]: Json })[name]!;
      }
      if (typeof value === "object") {
        if (value !== null) pending.push(value);
      } else if (typeof value === "number") {
        if (!isSafe(value)) return false;
      } else if (hasEscapes && typeof value === "string" && !isCleanText(value)) {
        return false;
      }
    }
  }
  // A member that stands twice is there once in the value: the last one wins, without a word.
  return found === members;
}

function boundsOf(limits: Partial<Limits>): Pick<Limits, "jsonDepth" | "envelopeBytes"> {
  const { jsonDepth = LIMITS.jsonDepth, envelopeBytes = LIMITS.envelopeBytes } = limits;
  return { jsonDepth: Math.min(jsonDepth, DEPTH_MAX), envelopeBytes };
}
