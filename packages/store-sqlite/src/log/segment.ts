/** A segment is a file of frames. Its number orders it; a sealed one is complete and compressed. */
export interface Segment {
  readonly number: number;
  readonly isSealed: boolean;
  readonly name: string;
}

const NAME = /^(\d{8})\.(log|sealed)$/;
const KIB = 1024;
const SMALLEST = 64 * KIB;
const DOUBLINGS_MAX = 8;

export function segmentName(number: number, isSealed: boolean = false): string {
  return `${`${number}`.padStart(8, "0")}.${isSealed ? "sealed" : "log"}`;
}

/** The segments among these names, in order; of one that exists in both forms, the sealed one. */
export function segmentsIn(names: readonly string[]): Segment[] {
  const found = new Map<number, Segment>();
  for (const name of names.toSorted()) {
    const [, digits, kind] = NAME.exec(name) ?? [];
    if (digits === undefined) continue;
    const segment = { number: Number(digits), isSealed: kind === "sealed", name };
    found.set(segment.number, segment);
  }
  return [...found.values()].toSorted((one, other) => one.number - other.number);
}

/** The numbers of the segments that still have their frames, in order. */
export function unsealedIn(names: readonly string[]): number[] {
  return names
    .filter((name) => NAME.exec(name)?.[2] === "log")
    .map((name) => Number.parseInt(name, 10))
    .toSorted((one, other) => one - other);
}

/** How much is laid out for a segment beforehand: little in a new store, 16 MiB in a busy one. */
export function segmentBytes(number: number): number {
  return SMALLEST * 2 ** Math.min(number - 1, DOUBLINGS_MAX);
}
