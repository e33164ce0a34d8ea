import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { countUsage, textMessage } from "@waybill/agent/adapter";
import { sumUsage } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import type { Crew } from "./crew.ts";
import { localMember, remoteMember } from "./members.ts";
import { runCrew } from "./run-crew.ts";
import { serveCrew } from "./serve.ts";

const EXPECTED = "What was asked for.";

/** How the suite uses a crew: one with a member that plays is served, and one with a remote member calls. */
export const fixture: AdapterFixture = {
  adapter: "crew",
  module: new URL(import.meta.url),

  serve: {
    names: ["player", "manager"],
    offer({ capability, act }) {
      const crew: Crew = {
        members: [
          {
            role: "player",
            goal: "Plays what it is told to.",
            async work({
              run,
              brief,
              request: { messages },
              artifacts,
              signal,
              traceparent,
              ...given
            }) {
              const { usage = {}, ...played } = await act({
                work: {
                  brief,
                  ...(messages === undefined ? {} : { messages }),
                  ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }),
                },
                run,
                traceparent,
                signal,
                show: given.progress,
                ask: (id, text) => given.ask({ id, text }),
              });
              // As the model of a member would.
              countUsage(usage);
              return played;
            },
          },
        ],
        tasks: [
          {
            name: "play",
            description: "Play.",
            expectedOutput: EXPECTED,
            member: "player",
          },
        ],
      };
      return serveCrew(crew, capability);
    },
  },

  call: { run: called },
};

async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, signal, traceparent } = request;
  const { brief, input, ...rest } = work;
  const description = brief?.instruction ?? "Find it out.";
  const expectedOutput = brief?.expected_output ?? EXPECTED;
  const member = "helper";
  const heard: Message[] = [];
  const listener = localMember({
    role: "listener",
    goal: "Hears what the task before has come to.",
    run(assignment) {
      heard.push(textMessage("user", assignment.brief.instruction));
      return "So it is.";
    },
  });
  const { outcomes, usage } = await runCrew(
    {
      members: [
        remoteMember(agent, capability, { to, timeoutMs, session: request.session, role: member }),
        listener,
      ],
      tasks: [
        { name: step, description, expectedOutput, member, input },
        { name: "listen", description: "Hear.", expectedOutput, member: "listener" },
      ],
    },
    {
      run,
      request: rest,
      signal,
      traceparent,
      onProgress: (event) => request.show((event as { message: string }).message),
      onQuestion: ({ id, text }) => request.ask(id!, text!),
    },
  );
  return { ...outcomes[0], usage: sumUsage(usage), heard: { as: member, messages: heard } };
}
