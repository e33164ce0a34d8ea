import { JsonSchemaError } from "./error.ts";
import { compileMetered } from "./pattern/pattern.ts";
import type { MeteredPattern } from "./pattern/pattern.ts";
import { APPLICATORS } from "./applicators.ts";
import { ASSERTIONS } from "./assertions.ts";
import { charge } from "./allowance.ts";
import type { SchemaAllowance } from "./allowance.ts";
import { COMPILING } from "./costs.ts";
import { unevaluated } from "./child-applicators.ts";
import { readMap, readSchema, readText, refuse, tooLarge } from "./keyword-values.ts";
import type { RawSchema } from "./keyword-values.ts";
import { SchemaReferences } from "./references.ts";
import type { Resource } from "./references.ts";
import type { Rule, SchemaNode } from "./evaluate.ts";
import type { CompileContext } from "./compile-context.ts";
import { hintsOf } from "./alternatives.ts";
import { pointerTo } from "./json-values.ts";

/** The dialects that are supported. Another dialect may give keywords another meaning. */
const DIALECT =
  /^https?:\/\/json-schema\.org\/(?:draft-0[467]\/schema|draft\/(?:2019-09|2020-12)\/schema)#?$/;

const HOLDS_SCHEMAS = new Set(
  [
    "properties patternProperties additionalProperties unevaluatedProperties propertyNames",
    "items prefixItems additionalItems unevaluatedItems contains minContains maxContains",
    "$ref $dynamicRef allOf anyOf oneOf not if then else",
    "dependentSchemas dependencies $defs definitions",
  ].flatMap((keywords) => keywords.split(" ")),
);
const ITEMS = ["items", "prefixItems", "additionalItems", "unevaluatedItems"];
const MEMBERS = ["properties", "additionalProperties", "unevaluatedProperties"];

const ASSERTION_LIST = Object.entries(ASSERTIONS);

const NEVER: Rule = (_, place, run) =>
  run.fail(place, "false", () => "the schema allows nothing here");

/** Compiles a schema that has been copied. Invalid keywords, patterns and references are refused here. */
export function compileNodes(schema: RawSchema, limits: CompileLimits): Compiled {
  const compiler = new SchemaCompiler(limits);
  const root = compiler.compile(schema);
  return { root, weight: compiler.weight };
}

interface CompileLimits {
  readonly depth: number;
  readonly nodes: number;
  readonly allowance: SchemaAllowance;
}

interface Compiled {
  readonly root: SchemaNode;
  /** The cost of compiling, in steps. */
  readonly weight: number;
}

class SchemaCompiler {
  weight = 0;
  readonly #limits: CompileLimits;
  readonly #nodes: SchemaNode[] = [];
  readonly #patterns = new Map<string, MeteredPattern>();
  readonly #references: SchemaReferences;

  constructor(limits: CompileLimits) {
    this.#limits = limits;
    // The target of a reference starts at depth 0: it may be anywhere in the document.
    this.#references = new SchemaReferences((schema, at, resource) =>
      this.#compile(schema, at, 0, resource),
    );
  }

  compile(schema: RawSchema): SchemaNode {
    const resource = this.#references.open(schema, "");
    const root = this.#compile(schema, "", 0, resource);
    this.#references.resolveAll();
    refuseEndlessReferences(this.#nodes);
    // If no schema can be applied twice to the same value, no verdict has to be remembered.
    if (!this.#nodes.some(mayRepeatWork)) for (const node of this.#nodes) node.isShared = false;
    return root;
  }

  #compile(schema: RawSchema, at: string, depth: number, outer: Resource): SchemaNode {
    const { depth: maxDepth, nodes: maxNodes, allowance } = this.#limits;
    if (depth > maxDepth) tooLarge(at, `schemas are nested deeper than ${maxDepth} levels`);
    if (this.#nodes.length >= maxNodes) tooLarge(at, `it holds more than ${maxNodes} schemas`);
    charge(allowance, "schemas", 1);
    this.weight += COMPILING.schema;
    const node: SchemaNode = {
      at,
      rules: [],
      unevaluated: undefined,
      inPlace: [],
      isShared: false,
      childSchemas: "none",
      hints: { discriminators: [] },
    };
    this.#nodes.push(node);
    if (typeof schema === "boolean") {
      if (!schema) node.rules.push(NEVER);
      return node;
    }

    const resource = this.#references.register(schema, node, outer);
    if (schema["$schema"] !== undefined) readDialect(schema["$schema"], pointerTo(at, "$schema"));
    const pattern = (source: string, place: string): MeteredPattern => this.#pattern(source, place);
    for (const [keyword, assertion] of ASSERTION_LIST) {
      if (schema[keyword] === undefined) continue;
      node.rules.push(assertion(schema[keyword], pointerTo(at, keyword), pattern));
    }
    node.hints = hintsOf(schema);
    if (schema["format"] !== undefined) readText(schema["format"], pointerTo(at, "format"));
    // Most schemas are leaves, and a hostile document has thousands: handle them quickly.
    if (!Object.keys(schema).some((keyword) => HOLDS_SCHEMAS.has(keyword))) return node;
    const below = (child: RawSchema, place: string): SchemaNode =>
      this.#compile(child, place, depth + 1, resource);
    const context: CompileContext = {
      schema,
      at,
      below,
      inPlace: (child, place) => {
        const made = below(child, place);
        node.inPlace.push(made);
        return made;
      },
      reference: (keyword, reference) => this.#references.add(keyword, reference, node, resource),
      pattern,
    };
    for (const applicator of APPLICATORS) {
      const rule = applicator(context);
      if (rule !== undefined) node.rules.push(rule);
    }
    node.unevaluated = unevaluated(context);
    node.childSchemas = childSchemasOf(schema);
    for (const keyword of ["$defs", "definitions"]) compileDefinitions(context, keyword);
    return node;
  }

  #pattern(source: string, at: string): MeteredPattern {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    let pattern: MeteredPattern;
    try {
      pattern = compileMetered(source);
    } catch (cause) {
      if (!JsonSchemaError.is(cause)) throw cause;
      throw new JsonSchemaError(cause.kind, `the schema is refused at ${at}: ${cause.message}`, {
        at,
        cause,
      });
    }
    charge(this.#limits.allowance, "instructions", pattern.size);
    this.weight += COMPILING.instruction * (pattern.size + source.length);
    this.#patterns.set(source, pattern);
    return pattern;
  }
}

function childSchemasOf(schema: Readonly<Record<string, unknown>>): SchemaNode["childSchemas"] {
  const has = (keyword: string): boolean => schema[keyword] !== undefined;
  if (has("contains") && ITEMS.some(has)) return "overlapping";
  if (has("patternProperties") && !has("properties")) {
    return Object.keys(schema["patternProperties"] as object).length > 1
      ? "overlapping"
      : "disjoint";
  }
  if (has("patternProperties")) return "overlapping";
  return has("contains") || ITEMS.some(has) || MEMBERS.some(has) ? "disjoint" : "none";
}

/** Whether a schema may apply another schema twice to the same value. */
function mayRepeatWork({ inPlace, childSchemas }: SchemaNode): boolean {
  const ways = inPlace.length + (childSchemas === "none" ? 0 : 1);
  return ways > 1 || childSchemas === "overlapping";
}

function compileDefinitions({ schema, at, below }: CompileContext, keyword: string): void {
  if (schema[keyword] === undefined) return;
  const place = pointerTo(at, keyword);
  for (const [name, given] of readMap(schema[keyword], place)) {
    const own = pointerTo(place, name);
    below(readSchema(given, own), own);
  }
}

function readDialect(given: unknown, at: string): void {
  if (!DIALECT.test(readText(given, at))) {
    refuse(
      at,
      "unknown dialect; write https://json-schema.org/draft/2020-12/schema, or leave it out",
    );
  }
}

/**
 * A schema that refers to itself for the same value would recurse for ever. One that refers to itself
 * for a part of the value, such as a tree whose children are trees, ends with the value.
 */
function refuseEndlessReferences(nodes: readonly SchemaNode[]): void {
  const done = new Set<SchemaNode>();
  const open = new Set<SchemaNode>();
  for (const start of nodes) {
    // Iterative, because a chain of references may be as long as the schema has nodes.
    const path: { node: SchemaNode; next: number }[] = [{ node: start, next: 0 }];
    while (path.length > 0) {
      const step = path.at(-1)!;
      if (step.next === 0) {
        if (done.has(step.node)) {
          path.pop();
          continue;
        }
        open.add(step.node);
      }
      const child = step.node.inPlace[step.next];
      step.next += 1;
      if (child === undefined) {
        open.delete(step.node);
        done.add(step.node);
        path.pop();
      } else if (open.has(child)) {
        refuse(child.at, "this schema refers to itself for the same value, so it never ends");
      } else path.push({ node: child, next: 0 });
    }
  }
}
