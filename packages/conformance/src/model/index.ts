// For an adapter of a framework with a model: an act that is played by a model behind HTTP.
export { Stagehand } from "./stagehand.ts";
export type { Props, Scenery } from "./stagehand.ts";
export { seenByChat, seenByResponses } from "./seen.ts";
