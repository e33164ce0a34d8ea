// For an adapter of a framework with a model: an act that is played at the other end of HTTP.
export { Stagehand } from "./stagehand.ts";
export type { Props, Scenery } from "./stagehand.ts";
export { seenByChat, seenByResponses } from "./seen.ts";
