import { jsonSchemaOf } from "@waybill/protocol/wire";
import type { Shape } from "@waybill/protocol/wire";

type Reader = (text: string) => unknown;

const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * Query parameters are strings; the schema says what is meant. A value that does not convert stays as
 * it is.
 */
const READERS: Readonly<Record<string, Reader>> = {
  integer: (text) => (NUMBER.test(text) ? Number(text) : text),
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => (text === "true" ? true : text === "false" ? false : text),
};

interface Member {
  readonly type?: string;
}

/** How the query of an operation is read. */
export function queryReader(
  shape: Shape<unknown> | undefined,
): (query: Readonly<Record<string, unknown>>) => unknown {
  if (shape === undefined) return () => undefined;
  const { properties = {} } = jsonSchemaOf(shape) as { properties?: Record<string, Member> };
  return (query) => {
    const read: Record<string, unknown> = {};
    for (const name of Object.keys(query)) {
      if (!Object.hasOwn(properties, name)) continue;
      const { type = "" } = properties[name]!;
      const given = query[name];
      if (type === "array") read[name] = Array.isArray(given) ? given : [given];
      else read[name] = typeof given === "string" ? (READERS[type]?.(given) ?? given) : given;
    }
    return read;
  };
}
