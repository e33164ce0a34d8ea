/** Model providers accept letters, digits, `_` and `-` in a tool's name, at most 64. */
const LENGTH = 64;

/** A valid tool name derived from the given name, and distinct from those taken. */
export function toolNameOf(name: string, taken: readonly string[] = []): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, LENGTH);
  let candidate = plain;
  for (let number = 2; taken.includes(candidate); number++) {
    const ending = `_${number}`;
    candidate = plain.slice(0, LENGTH - ending.length) + ending;
  }
  return candidate;
}
