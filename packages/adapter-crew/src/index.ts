export { runCrew } from "./run-crew.ts";
export type { CrewResult, CrewState, CrewWork } from "./run-crew.ts";
export { serveCrew } from "./serve.ts";
export type {
  Assignment,
  Crew,
  Delivery,
  Failure,
  Guardrail,
  Member,
  Task,
  TaskOutcome,
  Whom,
} from "./crew.ts";
export { askedMember, localMember, remoteMember } from "./members.ts";
export type { LocalMember, RemoteMemberOptions } from "./members.ts";
export { managedBy } from "./managed-by.ts";
export type { Made, Manager, Move, Situation } from "./manager.ts";
export { elsewhereOn } from "./elsewhere.ts";
