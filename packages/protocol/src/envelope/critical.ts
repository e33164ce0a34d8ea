import * as z from "zod";
import type { EnvelopeKind } from "./envelope.ts";
import { envelopeSchemas } from "./envelope-schema.ts";
import { WaybillError } from "../error.ts";
import { lazy } from "../lazy.ts";

/** The members that this reader knows, for each kind, as JSON Pointers. */
const known: () => ReadonlyMap<EnvelopeKind, ReadonlySet<string>> = lazy(
  () =>
    new Map(
      Object.entries(envelopeSchemas()).map(([kind, schema]) => [
        kind as EnvelopeKind,
        new Set(membersOf(schema, "")),
      ]),
    ),
);

/** Refuses an envelope that requires its readers to know a member that this one does not know. */
export function checkCritical(
  value: object,
  kind: EnvelopeKind,
  critical: readonly string[],
): void {
  critical.forEach((pointer, index) => {
    if (known().get(kind)!.has(pointer) && isPresent(value, pointer)) return;
    throw new WaybillError(
      400,
      `The ${kind} requires its readers to know ${JSON.stringify(pointer)}, and this one does not, or the member is missing. Update this reader, or send the envelope without it.`,
      { at: `/critical/${index}` },
    );
  });
}

/** Lists and values that are passed on unread have no members that a reader could know. */
function membersOf(schema: z.core.$ZodType, at: string): string[] {
  if (schema instanceof z.ZodOptional) return membersOf(schema.unwrap(), at);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => membersOf(each, at));
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries<z.core.$ZodType>(schema.shape).flatMap(([name, member]) => [
    `${at}/${name}`,
    ...membersOf(member, `${at}/${name}`),
  ]);
}

/** The pointer is a known one, so none of its names is escaped. */
function isPresent(value: unknown, pointer: string): boolean {
  let inner = value;
  for (const name of pointer.slice(1).split("/")) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, name)) return false;
    inner = (inner as Record<string, unknown>)[name];
  }
  return inner !== undefined;
}
