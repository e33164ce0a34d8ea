import type { MeteredPattern } from "./pattern/pattern.ts";
import { readMap, readSchema, readSchemas } from "./keyword-values.ts";
import type { RawSchema } from "./keyword-values.ts";
import type { SchemaNode } from "./evaluate.ts";
import { pointerTo } from "./json-values.ts";

/** What the keywords of one schema need from the compiler. */
export interface CompileContext {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly at: string;
  /** Compiles a schema that applies to members or items of the value (`below`), or to the value itself. */
  below(schema: RawSchema, at: string): SchemaNode;
  inPlace(schema: RawSchema, at: string): SchemaNode;
  /** Returns the target of a reference, which is known after all schemas are compiled. */
  reference(keyword: string, reference: string): () => SchemaNode;
  pattern(source: string, at: string): MeteredPattern;
}

type Compile = (schema: RawSchema, at: string) => SchemaNode;
type Schema = Readonly<Record<string, unknown>>;

export function schemaAt(
  schema: Schema,
  keyword: string,
  at: string,
  compile: Compile,
): SchemaNode | undefined {
  if (schema[keyword] === undefined) return undefined;
  const place = pointerTo(at, keyword);
  return compile(readSchema(schema[keyword], place), place);
}

export function schemaList(
  schema: Schema,
  keyword: string,
  at: string,
  compile: Compile,
): SchemaNode[] {
  if (schema[keyword] === undefined) return [];
  const place = pointerTo(at, keyword);
  return readSchemas(schema[keyword], place).map((each, index) =>
    compile(each, pointerTo(place, index)),
  );
}

export function schemaMap(
  schema: Schema,
  keyword: string,
  at: string,
  compile: Compile,
): [string, SchemaNode][] {
  if (schema[keyword] === undefined) return [];
  const place = pointerTo(at, keyword);
  return readMap(schema[keyword], place).map(([name, given]) => {
    const own = pointerTo(place, name);
    return [name, compile(readSchema(given, own), own)];
  });
}
