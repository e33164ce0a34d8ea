import type { HandoffResult } from "@waybill/agent";
import { conversationOf } from "@waybill/agent/adapter";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByChat, Stagehand } from "@waybill/conformance/model";
import { sumUsage } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import { clientOf, sceneryOf, toolsOf } from "../openai-fixture.ts";
import { questionTool } from "../tool.ts";
import { conversationMember, remoteMember } from "./members.ts";
import { roundRobin } from "./next-speaker.ts";
import { runTeam } from "./run-team.ts";
import { serveTeam } from "./serve.ts";
import type { Member, Team } from "./team.ts";
import { afterTurns } from "./termination.ts";

/**
 * How the suite uses a team: a team with a member that plays is served, and a team with a remote
 * member calls.
 */
export const fixture: AdapterFixture = {
  adapter: "team",
  module: new URL(import.meta.url),
  hasNoRoles: true,
  gaps: {
    "serve: an image in the messages that a run has added comes back whole":
      "only the text of a member's model is added, not images that its provider generates; tools return theirs as files",
    "call: a refusal reaches the framework as 422, with its reason":
      "a team speaks in text, and text can fill an input's one required text member, so nothing is refused",
  },

  serve: {
    names: ["forecaster"],
    streams: true,
    async offer({ capability, act }) {
      const had = new Map<string, readonly Message[]>();
      const stagehand = new Stagehand(
        (stage) => act({ ...stage, history: had.get(stage.run) }),
        sceneryOf,
      );
      const client = await clientOf((request) => stagehand.reply(request), stagehand.fetch);
      const tools = [questionTool(), ...toolsOf(stagehand.props)];
      const forecaster = conversationMember(
        { client, model: "scripted", name: "forecaster", tools },
        { description: "Plays what it is told to." },
      );
      const team: Team = {
        members: [keeping(forecaster, had)],
        next: roundRobin(),
        until: afterTurns(1),
      };
      return serveTeam(team, capability);
    },
  },

  call: { run: called },
};

/** A member that records the history of each run, independent of what its model is told. */
function keeping(member: Member, had: Map<string, readonly Message[]>): Member {
  return {
    ...member,
    speak(turn) {
      had.set(turn.run, turn.messages);
      return member.speak(turn);
    },
  };
}

async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, signal, traceparent } = request;
  let received: HandoffResult | undefined;
  const onResult = (result: HandoffResult) => (received = result);
  const member = remoteMember(agent, capability, {
    to,
    timeoutMs,
    session: request.session,
    name: step,
    onResult,
  });
  const heard: Message[] = [];
  const team: Team = {
    members: [member, await listener(heard)],
    next: roundRobin(),
    until: afterTurns(2),
  };
  const { artifacts } = work;
  const { artifacts: files, usage } = await runTeam(team, {
    run,
    messages: conversationOf(work),
    artifacts,
    signal,
    traceparent,
    // Members that speak after the remote member show their text, too.
    onDelta: (text) => received === undefined && request.show(text),
    onProgress: (event) =>
      received === undefined && request.show((event as { message: string }).message),
    onQuestion: ({ id, text }) => request.ask(id!, text!),
  });
  const { output, messages: said = [] } = received ?? {};
  return {
    output,
    messages: said,
    artifacts: files,
    usage: sumUsage(usage),
    heard: { as: step, messages: heard },
  };
}

/** A conversation that speaks after the remote member, and records what its model is told then. */
async function listener(heard: Message[]): Promise<Member> {
  const client = await clientOf((request) => {
    heard.push(...(seenByChat(request).messages ?? []));
    return { text: "So it is.", usage: { input_tokens: 0, output_tokens: 0 } };
  });
  return conversationMember(
    { name: "listener", client, model: "scripted" },
    { description: "Hears what was said." },
  );
}
