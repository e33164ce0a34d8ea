import { WaybillError } from "../error.ts";

/** A JSON value. Integers beyond ±(2^53 - 1) are excluded: they would lose digits. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Names that reach an object's prototype in JavaScript and could turn data into behaviour. */
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

/** False for a text with a lone surrogate, which UTF-8 can't represent. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

/** One segment of a JSON Pointer (RFC 6901). */
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

/** Text from strangers is shortened in error messages. */
export function excerpt(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
