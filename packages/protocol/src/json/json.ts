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

/** However high the limit is set: code that walks a value must not overflow the stack. */
const DEPTH_MAX = 1000;

/**
 * Reads JSON that means the same to every reader: without duplicate members, forbidden names, numbers
 * that differ as a double, text that is not Unicode, or nesting beyond the limit.
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
 * Writes a value as JSON that `parseJson` reads back, or throws with the place that has no faithful
 * form. Undefined members are omitted; `toJSON` is honoured.
 */
export function stringifyJson(value: unknown, limits: Partial<Limits> = LIMITS): string {
  const { jsonDepth, envelopeBytes } = boundsOf(limits);
  const budget: PlainBudget = { jsonDepth, envelopeBytes, values: envelopeBytes };
  // The fast check does not look at strings; an escape in the output shows that some need a check.
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
  /** An upper bound on the number of members, if the text is JSON. */
  readonly members: number;
  /**
   * The parser of V8 since 12.8 can mistake a name with an escape for an earlier one: in Node 24,
   * after `{"a":1,"\\":0}`, it reads the second name of `{"a":1,"\"":0}` as a backslash
   * (nodejs/node#63785). One sender could so change what is read from another, so such a text never
   * reaches it.
   */
  readonly hasEscapedName: boolean;
  /** A number that is not whole but reads as whole: the parser can't tell. */
  readonly hasLostFraction: boolean;
}

/** One pass over a text before the parser reads it, which also rejects everything that is too deep. */
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

/** The index of the closing quote of the string that starts at `start`, or -1. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

/** Whether the fast check suffices. False is no verdict yet: `readJson` gives it. */
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
  // Of duplicate members the value has only one: the last one wins silently.
  return found === members;
}

function boundsOf(limits: Partial<Limits>): Pick<Limits, "jsonDepth" | "envelopeBytes"> {
  const { jsonDepth = LIMITS.jsonDepth, envelopeBytes = LIMITS.envelopeBytes } = limits;
  return { jsonDepth: Math.min(jsonDepth, DEPTH_MAX), envelopeBytes };
}
