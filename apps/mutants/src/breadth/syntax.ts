/// <reference types="node" />
import { parseSync } from "oxc-parser";

/** A node of the syntax tree (ESTree), with its place in the source. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** A node, and the nodes around it, from the program inwards. */
export interface Place {
  readonly node: SyntaxNode;
  readonly around: readonly SyntaxNode[];
}

/** Every node of a source, parents first. */
export function* placesIn(path: string, source: string): Generator<Place> {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  yield* within({ node: program as unknown as SyntaxNode, around: [] });
}

function* within(place: Place): Generator<Place> {
  yield place;
  const around = [...place.around, place.node];
  for (const value of Object.values(place.node)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (isNode(each)) yield* within({ node: each, around });
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
