import { isId, WaybillError } from "@waybill/protocol";

/** Checks ids here, because the hub's error message would be about paths. */
export function idOf(text: string, what: string): string {
  if (isId(text)) return text;
  throw new WaybillError(
    400,
    `${JSON.stringify(text)} is not ${what}: ids are UUIDv7 in lower case, such as 01993a5e-7c1e-7b3a-9a53-0c9b6d3f1a2e. Every command that hands off or lists handoffs prints them.`,
  );
}
