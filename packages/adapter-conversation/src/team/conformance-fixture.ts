import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { conversationOf, textMessage, wordsOf } from "@waybill/agent/adapter";
import { remoteMember } from "./members.ts";
import { roundRobin } from "./next-speaker.ts";
import { runTeam } from "./run-team.ts";
import { serveTeam } from "./serve.ts";
import type { Team } from "./team.ts";
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

function spokenOf({ output, messages = [], artifacts }: Played) {
  const words = output === undefined ? [] : [textMessage("assistant", wordsOf(output), "player")];
  return { messages: [...messages, ...words], artifacts };
}

async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, signal, traceparent } = request;
  const member = remoteMember(agent, capability, { to, timeoutMs, name: step });
  const team: Team = { members: [member], next: roundRobin(), until: afterTurns(1) };
  const { artifacts } = work;
  const { messages, artifacts: files } = await runTeam(team, {
    run,
    messages: conversationOf(work),
    artifacts,
    signal,
    traceparent,
    onProgress: (event) => request.show((event as { message: string }).message),
    onQuestion: ({ id, text }) => request.ask(id!, text!),
  });
  return { messages, artifacts: files };
}
