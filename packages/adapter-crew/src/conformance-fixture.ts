import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import type { Crew } from "./crew.ts";
import { remoteMember } from "./members.ts";
import { runCrew } from "./run-crew.ts";
import { serveCrew } from "./serve.ts";

const EXPECTED = "What was asked for.";

/** How the suite uses a crew: one with a member that plays is served, and one with a remote member calls. */
export const fixture: AdapterFixture = {
  adapter: "crew",
  module: new URL(import.meta.url),

  serve: {
    offer({ capability, act }) {
      const crew: Crew = {
        members: [
          {
            role: "player",
            goal: "Plays what it is told to.",
            work: ({
              run,
              brief,
              request: { messages },
              artifacts,
              signal,
              traceparent,
              ...given
            }) =>
              act({
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
              }),
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
  return runCrew(
    {
      members: [remoteMember(agent, capability, { to, timeoutMs, role: member })],
      tasks: [{ name: step, description, expectedOutput, member, input }],
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
}
