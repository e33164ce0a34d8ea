// What the generator needs beside the package's own exports, in one place: where the sources
// stand may change, and then this file alone changes with them.
export { capabilitySchema, MANIFEST_LIMITS } from "../src/manifest/capability.ts";
export { lifecycleDiagram } from "../src/lifecycle/diagram.ts";
export { AGENT_ID } from "../src/manifest/agent-id.ts";
export { MEDIA_TYPES, messageSchemas } from "../src/envelope/message-schema.ts";
export { envelopeSchemas } from "../src/envelope/envelope-schema.ts";
export { shapes } from "../src/wire/shapes.ts";
export { httpShapes } from "../src/wire/http-shapes.ts";
