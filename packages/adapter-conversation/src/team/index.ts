export { runTeam } from "./run-team.ts";
export type { TeamResult, TeamState, TeamWork } from "./run-team.ts";
export type {
  Handoff,
  Member,
  NextSpeaker,
  Progress,
  Spoken,
  Team,
  Termination,
  Turn,
} from "./team.ts";
export { askedMember, conversationMember, remoteMember } from "./members.ts";
export type { ConversationMemberOptions, RemoteMemberOptions } from "./members.ts";
export { keepSpeaking, roundRobin, selector } from "./next-speaker.ts";
export type { SelectorOptions } from "./next-speaker.ts";
export {
  afterMessages,
  afterTurns,
  allOf,
  anyOf,
  whenHandedTo,
  whenSaid,
  whenSpoken,
} from "./termination.ts";
export { remotesOn } from "./remotes.ts";
export { serveTeam } from "./serve.ts";
