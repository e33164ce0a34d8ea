/** The length that W3C Trace Context asks everybody to pass on; a longer trace state is dropped. */
export const TRACESTATE_CHARACTERS = 512;
export const TRACEPARENT: RegExp = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A span, with the members that W3C Trace Context transmits. */
export interface TracePlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** The span context in an envelope, which was validated when the envelope was read. */
export function tracePlaceOf({
  traceparent,
}: {
  readonly traceparent?: string | undefined;
}): TracePlace | undefined {
  const [, traceId, spanId, flags] = traceparent?.split("-") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** A span context as a W3C `traceparent`. */
export function traceparentOf({ traceId, spanId, traceFlags }: TracePlace): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}
