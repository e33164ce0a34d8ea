import { parseJson, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

const FENCED = /^[^`]*```(?:json)?[ \t]*\n([\s\S]*?)\n?```[^`]*$/;

/** A value as text for a model: a string is itself, anything else its JSON. */
export function wordsOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}

/** The JSON in a reply: all of it, or its one fenced block. Without JSON, the reason. */
export function jsonIn(reply: string): { readonly value: Json } | { readonly fault: string } {
  const fenced = FENCED.exec(reply)?.[1];
  try {
    return { value: parseJson((fenced ?? reply).trim()) };
  } catch (error) {
    return { fault: WaybillError.from(error).message };
  }
}
