import { WaybillError } from "@waybill/protocol";

/** For people: `940 ms`, `4.1 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(ms: number): string {
  const at = Math.abs(ms);
  if (at < 1000) return `${Math.round(ms)} ms`;
  if (at < 60_000) return `${Number((ms / 1000).toFixed(at < 9950 ? 2 : 1))} s`;
  if (at < 3_600_000) return pair(ms, 60_000, "min", 1000, "s");
  if (at < 86_400_000) return pair(ms, 3_600_000, "h", 60_000, "min");
  return pair(ms, 86_400_000, "d", 3_600_000, "h");
}

function pair(ms: number, large: number, name: string, small: number, smallName: string): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallName}`;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `500ms`, `30s`, `5m`, `2h`, `1d`; undefined for anything else. */
export function durationOf(text: string): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = number === undefined ? Number.NaN : Number(number) * UNITS[unit!]!;
  return ms >= 1 ? ms : undefined;
}

/** The same, for an option that requires a duration. */
export function parseDuration(text: string, option: string): number {
  const ms = durationOf(text);
  if (ms !== undefined) return ms;
  throw new WaybillError(
    400,
    `--${option} must be a time such as 500ms, 30s, 5m or 2h, and ${JSON.stringify(text)} is not.`,
  );
}
