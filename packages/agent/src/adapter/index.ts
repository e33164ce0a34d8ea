// What the author of an adapter needs; ADAPTERS.md says how it is used.
export { offerOf } from "./serve.ts";
export type { Finished, Offer, Paused, ServeOptions } from "./serve.ts";
export type { Run } from "./run.ts";
export { call, dispatch, refuseQuestion } from "./call.ts";
export type { Call } from "./call.ts";
export { conversationHere, saidSince, sessionFor } from "./call-session.ts";
export type { CallSession } from "./call-session.ts";
export { Turns } from "./in-turn.ts";
export { settle } from "./settle.ts";
export type { Listening } from "./settle.ts";
export { ShownText } from "./shown-text.ts";
export { currentRun } from "./current-run.ts";
export { currentWork } from "./current-work.ts";
export { handoffIdOf } from "./step.ts";
export type { Step } from "./step.ts";

export { portableOf } from "./portable.ts";
export type { PortableWork } from "./portable.ts";
export { briefOf, conversationOf, repliesOf, wordsOfResult } from "./conversation.ts";
export { shownIn } from "./host-parts.ts";
export { speakerName, unnamedUser } from "./speaker.ts";
export {
  distinctId,
  historyFrom,
  lineOf,
  speechOf,
  messageText,
  messageTextWithMedia,
} from "./speech.ts";
export type { HistoryOptions } from "./speech.ts";
export { wordsOf } from "./json-text.ts";
export { statedIn } from "./stated.ts";
export type { Stated } from "./stated.ts";
export { inputOf } from "./structured.ts";
export { outputOf, readOutput } from "./output.ts";
export type { AskAgain } from "./output.ts";
export {
  addedTo,
  textMessage,
  textOf,
  toolCallPart,
  toolCallsOf,
  toolResultPart,
  toolResultsOf,
} from "./message.ts";
export type { ToolCall, ToolResult } from "./message.ts";
export { artifactOf, bytesOf, LOADED_BYTES } from "./artifact.ts";
export { filesIn, withFiles } from "./files.ts";
export {
  base64Of,
  mediaFrom,
  mediaIn,
  mediaInWords,
  mediaOf,
  mediaPart,
  shownByUsers,
  sourceOf,
  unshowable,
} from "./media.ts";
export type { Media, Source } from "./media.ts";
export { asFailureOfPart, endOfRun, failureFrom } from "./failure.ts";
export type { ErrorTable } from "./failure.ts";
export { modelFailure } from "./model-failure.ts";
export { countUsage, usageRowOf } from "./usage.ts";
export type { CountedUsage } from "./usage.ts";
export { progressOf } from "./progress.ts";
export { argumentsOf, workFrom } from "./handoff-arguments.ts";
export { schemaForModel } from "./schema-for-model.ts";
export { toolNameOf } from "./tool-name.ts";
export { failureAsData, markedAsData, resultAsData } from "./as-data.ts";
export { failureForModel, failureToTell, remoteToolCard, resultForModel } from "./remote-tool.ts";
export type { OnFailure, RemoteToolCard } from "./remote-tool.ts";
export { APPROVAL, approvalIn, QUESTION_TOOL } from "./delegator-tool.ts";
export { shownToModel } from "./tool-turn.ts";
export type { ToolTurn } from "./tool-turn.ts";
