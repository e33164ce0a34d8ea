import type { Json } from "./json.ts";

/** The terms that both sides hold to. What is left out is as the recipient's manifest says. */
export interface Contract {
  timeout_seconds?: number | undefined;
  lease_seconds?: number | undefined;
  max_attempts?: number | undefined;
  /** What the result must look like, where it is stricter than the manifest. */
  output_schema?: Json | undefined;
}
