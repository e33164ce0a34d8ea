import { readSchema, readText, refuse } from "./keyword-values.ts";
import type { RawSchema } from "./keyword-values.ts";
import type { SchemaNode } from "./evaluate.ts";
import { describeValue, pointerTo } from "./json-values.ts";

/** A schema resource: the whole document, or a schema with an `$id`. `#` refers to it from inside. */
export interface Resource {
  readonly schema: RawSchema;
  readonly at: string;
  readonly anchors: Map<string, SchemaNode>;
}

interface Pending {
  keyword: string;
  reference: string;
  node: SchemaNode;
  resource: Resource;
  settle: (target: SchemaNode) => void;
}

const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/;

/**
 * The references of one document. An `$id` is a name inside this document, compared as it is written:
 * no address is built from it, and nothing is ever fetched.
 */
export class SchemaReferences {
  readonly #compile: (schema: RawSchema, at: string, resource: Resource) => SchemaNode;
  readonly #nodes = new Map<RawSchema, SchemaNode>();
  readonly #ids = new Map<string, Resource>();
  readonly #dynamicAnchors = new Map<string, number>();
  readonly #pending: Pending[] = [];

  constructor(compile: (schema: RawSchema, at: string, resource: Resource) => SchemaNode) {
    this.#compile = compile;
  }

  open(schema: RawSchema, at: string): Resource {
    return { schema, at, anchors: new Map() };
  }

  /** Registers the names of a schema, and returns the resource that its references are relative to. */
  register(schema: Exclude<RawSchema, boolean>, node: SchemaNode, outer: Resource): Resource {
    this.#nodes.set(schema, node);
    const { at } = node;
    let resource = outer;
    const id = schema["$id"];
    if (id !== undefined) {
      const place = pointerTo(at, "$id");
      const name = readText(id, place).replace(/#$/, "");
      if (name.startsWith("#")) this.#anchor(resource, name.slice(1), node, place);
      else if (name.includes("#"))
        refuse(place, "an $id must not have a fragment; write $anchor instead");
      else if (name !== "") {
        if (this.#ids.has(name)) refuse(place, `the $id ${describeValue(name)} is used twice`);
        if (schema !== outer.schema) resource = this.open(schema, at);
        this.#ids.set(name, resource);
      }
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"] as const) {
      if (schema[keyword] === undefined) continue;
      const place = pointerTo(at, keyword);
      const name = readText(schema[keyword], place);
      this.#anchor(resource, name, node, place);
      if (keyword === "$dynamicAnchor") {
        this.#dynamicAnchors.set(name, (this.#dynamicAnchors.get(name) ?? 0) + 1);
      }
    }
    if (schema["$recursiveRef"] !== undefined) {
      refuse(
        pointerTo(at, "$recursiveRef"),
        "this keyword of draft 2019-09 isn't supported; write $ref",
      );
    }
    return resource;
  }

  add(keyword: string, reference: string, node: SchemaNode, resource: Resource): () => SchemaNode {
    let target: SchemaNode | undefined;
    const get = (): SchemaNode => target!;
    const settle = (found: SchemaNode): void => {
      target = found;
    };
    this.#pending.push({ keyword, reference, node, resource, settle });
    node.hints = { ...node.hints, target: get };
    return get;
  }

  /** Resolves every reference, including those in schemas that only a reference reaches. */
  resolveAll(): void {
    for (let pending = this.#pending.pop(); pending !== undefined; pending = this.#pending.pop()) {
      const target = this.#resolve(pending);
      target.isShared = true;
      pending.node.inPlace.push(target);
      pending.settle(target);
    }
  }

  #anchor(resource: Resource, name: string, node: SchemaNode, at: string): void {
    if (!ANCHOR.test(name))
      refuse(at, `an anchor must be a plain name, got ${describeValue(name)}`);
    const known = resource.anchors.get(name);
    if (known !== undefined && known !== node)
      refuse(at, `the anchor ${describeValue(name)} is used twice`);
    resource.anchors.set(name, node);
  }

  #resolve({ keyword, reference, node, resource }: Pending): SchemaNode {
    const at = pointerTo(node.at, keyword);
    const hash = reference.indexOf("#");
    const base = hash === -1 ? reference : reference.slice(0, hash);
    const fragment = decode(hash === -1 ? "" : reference.slice(hash + 1), at);
    const home = base === "" ? resource : this.#ids.get(base);
    if (home === undefined) {
      refuse(
        at,
        `${describeValue(reference)} leads out of this document, and nothing is ever fetched; copy the schema into $defs and refer to "#/$defs/…"`,
      );
    }
    if (fragment === "" || fragment.startsWith("/"))
      return this.#atPointer(home, fragment, reference, at);
    const found = home.anchors.get(fragment);
    if (found === undefined) refuse(at, `nothing has the anchor of ${describeValue(reference)}`);
    if (keyword === "$dynamicRef" && (this.#dynamicAnchors.get(fragment) ?? 0) > 1) {
      refuse(
        at,
        `several schemas have the $dynamicAnchor of ${describeValue(reference)}; dynamic scope isn't supported, write $ref`,
      );
    }
    return found;
  }

  #atPointer(home: Resource, pointer: string, reference: string, at: string): SchemaNode {
    let found: unknown = home.schema;
    let place = home.at;
    for (const part of pointer.split("/").slice(1)) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, name);
      if (!isThere || (Array.isArray(found) && name === "length")) {
        refuse(
          at,
          `${describeValue(reference)} leads nowhere: there is no ${describeValue(name)} at ${place || "the root"}`,
        );
      }
      found = (found as Record<string, unknown>)[name];
      place = pointerTo(place, name);
    }
    const schema = readSchema(found, place);
    return this.#nodes.get(schema) ?? this.#compile(schema, place, home);
  }
}

function decode(fragment: string, at: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return refuse(at, "the reference has a % that isn't an escape");
  }
}
