/**
 * A record with each envelope that stands in the ledger replaced by its sequence between two NULs,
 * which JSON never has: the longest part of most handoffs would be kept twice.
 */
export function packRecord(
  record: string,
  contents: Iterable<readonly [sequence: number, content: string]>,
): string {
  if (record.includes("\0")) return `\0\0${record}`;
  let packed = record;
  for (const [sequence, content] of contents) {
    if (content.length >= CONTENT_CHARACTERS_MIN) {
      packed = packed.split(content).join(`\0${sequence}\0`);
    }
  }
  return packed;
}

export function unpackRecord(packed: string, contentOf: (sequence: number) => string): string {
  if (packed.startsWith("\0\0")) return packed.slice(2);
  const parts = packed.split("\0");
  return parts.map((part, at) => (at % 2 === 0 ? part : contentOf(Number(part)))).join("");
}

/** The sequences of the entries that a packed record points to. */
export function entriesOf(packed: string): number[] {
  if (packed.startsWith("\0\0")) return [];
  return packed
    .split("\0")
    .filter((_, at) => at % 2 === 1)
    .map(Number);
}

const CONTENT_CHARACTERS_MIN = 64;
