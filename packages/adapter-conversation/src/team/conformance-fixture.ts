import type { HandoffResult } from "@waybill/agent";
import { conversationOf, countUsage, textMessage, wordsOf } from "@waybill/agent/adapter";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByChat } from "@waybill/conformance/model";
import { sumUsage } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";
import { conversationMember, remoteMember } from "./members.ts";
import { roundRobin } from "./next-speaker.ts";
import { runTeam } from "./run-team.ts";
import { serveTeam } from "./serve.ts";
import type { Member, Team } from "./team.ts";
import { afterTurns } from "./termination.ts";

/** How the suite uses a team: one that is played is served, and one with a remote member calls. */
export const fixture: AdapterFixture = {
  adapter: "team",
  module: new URL(import.meta.url),
  gaps: {
    "call: a refusal reaches the framework as 422, with its reason":
      "a team speaks in words, and words may stand for the one text that an input asks for: nothing is refused",
  },

  serve: {
    names: ["player"],
    offer({ capability, act }) {
      const team: Team = {
        members: [
          {
            name: "player",
            description: "Plays what it is told to.",
            async speak({ run, messages, artifacts, signal, traceparent, ...turn }) {
              const files = artifacts.length === 0 ? {} : { artifacts: [...artifacts] };
              return spokenOf(
                await act({
                  work: { messages: [...messages], ...files },
                  run,
                  traceparent,
                  signal,
                  show: turn.progress,
                  ask: (id, text) => turn.ask({ id, text }),
                }),
              );
            },
          },
        ],
        next: roundRobin(),
        until: afterTurns(1),
      };
      return serveTeam(team, capability);
    },
  },

  call: { run: called },
};

function spokenOf({ output, messages = [], artifacts, usage }: Played) {
  // As the model of a member would.
  if (usage !== undefined) countUsage({ ...usage });
  const words = output === undefined ? [] : [textMessage("assistant", wordsOf(output), "player")];
  return { messages: [...messages, ...words], artifacts };
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
    // Whoever speaks after the remote member shows what they say, too.
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

/** A conversation that speaks after the remote member, and what its model is told then. */
async function listener(heard: Message[]): Promise<Member> {
  const { url } = await startScriptedModel((request) => {
    heard.push(...(seenByChat(request).messages ?? []));
    return { text: "So it is.", usage: { input_tokens: 0, output_tokens: 0 } };
  });
  const client = new OpenAI({ baseURL: url, apiKey: "none" });
  return conversationMember(
    { name: "listener", client, model: "scripted" },
    { description: "Hears what was said." },
  );
}
