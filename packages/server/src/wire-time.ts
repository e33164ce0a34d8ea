/** A time as the wire has it. */
export function wireTime(at: number): string {
  return new Date(at).toISOString();
}
