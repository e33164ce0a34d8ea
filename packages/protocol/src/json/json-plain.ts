import { WaybillError } from "../error.ts";
import {
  FORBIDDEN_NAMES,
  isCleanText,
  isSafe,
  isWellFormed,
  quote,
  step,
  tooDeep,
  tooLong,
  unsafe,
} from "./json-rules.ts";
import type { Json } from "./json-rules.ts";

/** Objects that `JSON.stringify` writes as `{}`, or as something that does not read back. */
const LOST_IN_JSON: ReadonlySet<string> = new Set([
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "Error",
  "Promise",
  "RegExp",
  "ArrayBuffer",
  "String",
  "Number",
  "Boolean",
]);

/** From here on `JSON.stringify` writes an exponent, so that an integer is no integer literal any more. */
const FIRST_WITH_EXPONENT = 1e21;

export interface PlainBudget {
  readonly jsonDepth: number;
  readonly envelopeBytes: number;
  /**
   * How many values may still be visited: a small graph with shared objects can expand to more text
   * than there is memory.
   */
  values: number;
}

/**
 * Whether `JSON.stringify` writes the value faithfully, apart from strings. The depth limit stops a
 * cycle.
 */
export function isPlain(value: unknown, depthLeft: number, budget: PlainBudget): boolean {
  if (--budget.values < 0) return false;
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return isSafe(value);
  if (typeof value !== "object" || depthLeft <= 0) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (!isPlain(value[i], depthLeft - 1, budget)) return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const names = Object.keys(value);
  for (let i = 0; i < names.length; i++) {
    if (FORBIDDEN_NAMES.has(names[i]!)) return false;
    const member = (value as Record<string, unknown>)[names[i]!];
    if (member !== undefined && !isPlain(member, depthLeft - 1, budget)) return false;
  }
  return true;
}

interface Place {
  readonly up: Place | undefined;
  readonly name: string | number;
  readonly holder: object;
  readonly depth: number;
}

/** A copy of plain data, or the reason and the place of what JSON can't represent. */
export function toPlain(given: unknown, place: Place | undefined, budget: PlainBudget): Json {
  const refused = (what: string, at = place) =>
    new WaybillError(400, `This can't be serialized as JSON: ${what}.`, { at: pointerTo(at) });
  if (--budget.values < 0) throw tooLong(undefined, budget.envelopeBytes, pointerTo(place));
  const value = afterToJson(given, place);
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    if (!isWellFormed(value)) throw refused("a string has a lone surrogate");
    if (value.includes("\0")) throw refused("a string has a NUL");
    return value;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) {
      throw refused(`JSON has no number ${value}; leave it out or use null`);
    }
    const isInteger = Number.isInteger(value) && Math.abs(value) < FIRST_WITH_EXPONENT;
    if (isInteger && !isSafe(value)) throw refused(unsafe(String(value)));
    return value;
  }
  if (value === undefined) throw refused("undefined is not a JSON value; use null");
  if (typeof value === "bigint") {
    throw refused("a BigInt has no JSON form that every reader understands; use a string");
  }
  if (typeof value !== "object") throw refused(`a ${typeof value} is not data`);
  const depth = (place?.depth ?? 0) + 1;
  for (let up = place; up !== undefined; up = up.up) {
    if (up.holder === value) throw refused("it contains itself");
  }
  if (depth > budget.jsonDepth) throw tooDeep(budget.jsonDepth, "", pointerTo(place));
  const holder = value;
  if (Array.isArray(holder)) {
    return Array.from(holder, (item: unknown, name) =>
      toPlain(item, { up: place, name, holder, depth }, budget),
    );
  }
  const kind = Object.prototype.toString.call(holder).slice(8, -1);
  if (LOST_IN_JSON.has(kind) || ArrayBuffer.isView(holder)) {
    throw refused(`a ${kind} would lose its content; convert it to plain data first`);
  }
  const copy: { [name: string]: Json } = {};
  for (const [name, member] of Object.entries(holder)) {
    if (member === undefined) continue;
    const inside = { up: place, name, holder, depth };
    if (FORBIDDEN_NAMES.has(name)) {
      throw refused(`the name ${quote(name)} is not allowed`, inside);
    }
    if (!isCleanText(name)) {
      throw refused("a name has a NUL or a lone surrogate", inside);
    }
    copy[name] = toPlain(member, inside, budget);
  }
  return copy;
}

function afterToJson(value: unknown, place: Place | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value, String(place?.name ?? "")) : value;
}

function pointerTo(place: Place | undefined): string {
  return place === undefined ? "" : pointerTo(place.up) + step(place.name);
}
