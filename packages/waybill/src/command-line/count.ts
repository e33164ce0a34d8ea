import { WaybillError } from "@waybill/protocol";

/** Parses a whole number, by default at least 1. */
export function countOf(text: string, option: string, least = 1): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least) return Number(text);
  throw new WaybillError(
    400,
    `--${option} must be a whole number from ${least}, and ${JSON.stringify(text)} is not.`,
  );
}
