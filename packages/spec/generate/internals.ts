// What the generator needs of the protocol besides its exports, in one place: if sources move, only
// this file changes.
export { capabilitySchema, MANIFEST_LIMITS } from "../../protocol/src/manifest/capability.ts";
export { lifecycleDiagram } from "../../protocol/src/lifecycle/diagram.ts";
export { AGENT_ID } from "../../protocol/src/manifest/agent-id.ts";
export { MEDIA_TYPES, messageSchemas } from "../../protocol/src/envelope/message-schema.ts";
export { envelopeSchemas } from "../../protocol/src/envelope/envelope-schema.ts";
export { shapes } from "../../protocol/src/wire/shapes.ts";
export { httpShapes } from "../../protocol/src/wire/http-shapes.ts";
