/** Models' hosts take letters, digits, `_` and `-` in a tool's name, and 64 of them. */
const LENGTH = 64;

/** What a model calls a tool that is named after something; another name where that is taken. */
export function toolNameOf(name: string, taken: readonly string[] = []): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, LENGTH);
  let candidate = plain;
  for (let number = 2; taken.includes(candidate); number++) {
    const ending = `_${number}`;
    candidate = plain.slice(0, LENGTH - ending.length) + ending;
  }
  return candidate;
}
