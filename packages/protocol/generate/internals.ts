// What the generator needs beside the package's own exports, in one place: where the sources
// stand may change, and then this file alone changes with them.
export { capabilitySchema, MANIFEST_LIMITS } from "../src/capability.ts";
export { lifecycleDiagram } from "../src/diagram.ts";
export { AGENT_ID } from "../src/agent-id.ts";
export { ENVELOPE_SCHEMAS } from "../src/envelope-schema.ts";
