export { STATUS, isFailure, isStatusCode, statusOf } from "./status.ts";
export type { Retry, Status, StatusCode, StatusName } from "./status.ts";
export { WaybillError } from "./error.ts";
export type { WaybillErrorOptions } from "./error.ts";
export { LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
