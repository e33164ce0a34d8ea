import { JsonSchemaError } from "@waybill/json-schema";
import { WaybillError } from "../error.ts";

const STATUS_OF = { invalid: 400, limit: 413 } as const;

/** Runs the schema validator, and converts its own error to a `WaybillError` with the same message. */
export function asWaybillError<T>(validate: () => T): T {
  try {
    return validate();
  } catch (error) {
    if (!JsonSchemaError.is(error)) throw error;
    const { kind, message, at } = error;
    throw new WaybillError(STATUS_OF[kind], message, { at, cause: error });
  }
}
