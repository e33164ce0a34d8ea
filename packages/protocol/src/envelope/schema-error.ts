import type { ZodError } from "zod";
import { WaybillError } from "../error.ts";
import type { StatusCode } from "../status.ts";

/** The first issue that zod found, as an error that names the place and the rule. */
export function fromSchemaError(
  error: ZodError,
  what: string,
  status: StatusCode = 400,
): WaybillError {
  const issue = error.issues[0];
  const at = issue?.path.map((token) => `/${pointerToken(token)}`).join("") ?? "";
  return new WaybillError(
    status,
    `${what} is malformed${at === "" ? "" : ` at ${at}`}: ${issue?.message ?? "unknown"}.`,
    {
      at,
      cause: error,
    },
  );
}

function pointerToken(token: PropertyKey): string {
  return String(token).replaceAll("~", "~0").replaceAll("/", "~1");
}
