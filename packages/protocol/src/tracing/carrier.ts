/** As much as W3C Trace Context asks everybody to pass on; a longer one is left out. */
export const TRACESTATE_CHARACTERS = 512;
export const TRACEPARENT: RegExp = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A span, by what W3C Trace Context carries of it. */
export interface TracePlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** Where in a trace an envelope was made. What it carries was checked when it was read. */
export function tracePlaceOf({
  traceparent,
}: {
  readonly traceparent?: string | undefined;
}): TracePlace | undefined {
  const [, traceId, spanId, flags] = traceparent?.split("-") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** A place in a trace as a W3C `traceparent`. */
export function traceparentOf({ traceId, spanId, traceFlags }: TracePlace): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}
