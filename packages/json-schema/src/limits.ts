/** The limits of one schema and of one check. */
export interface SchemaLimits {
  /** How deep schemas may be nested in one another. */
  schemaDepth: number;
  /** Schemas in one document, and members of any one object in it. */
  schemaNodes: number;
  /** What one check may cost, verdict and reasons together, in steps of about 8 ns. */
  checkSteps: number;
  /** Issues after which a check stops. */
  checkIssues: number;
}

/** The default limits of `compileSchema`. */
export const SCHEMA_LIMITS: Readonly<SchemaLimits> = {
  schemaDepth: 32,
  schemaNodes: 10_000,
  checkSteps: 3_000_000,
  checkIssues: 20,
};
