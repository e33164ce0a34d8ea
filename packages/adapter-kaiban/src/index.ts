export { serveTeam } from "./serve.ts";
export type { ServeTeamOptions } from "./serve.ts";
export { remoteMember } from "./remote-member.ts";
export type { RemoteMemberOptions } from "./remote-member.ts";
export { member } from "./member.ts";
export type { KaibanAssignment, MemberOptions } from "./member.ts";
export type {
  KaibanAgentClass,
  KaibanLog,
  KaibanState,
  KaibanStore,
  KaibanTask,
  KaibanTeam,
} from "./kaiban.ts";
