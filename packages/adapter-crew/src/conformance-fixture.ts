/// <reference types="node" />
import { randomUUID } from "node:crypto";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { converse } from "@waybill/adapter-conversation";
import { conversationOf, countUsage, textMessage } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { seenByChat } from "@waybill/conformance/model";
import { sumUsage } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";
import type { Crew } from "./crew.ts";
import type { Assignment } from "./member.ts";
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
            async work(assignment) {
              const { run, request, signal, traceparent, progress, ask } = assignment;
              const { usage = {}, ...played } = await act({
                work: await readBy(assignment),
                history: request.messages,
                run,
                traceparent,
                signal,
                show: progress,
                ask: (id, text) => ask({ id, text }),
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

const seen = new Map<string, PortableWork>();
let host: Promise<ScriptedModel> | undefined;

/** What the model of a member reads, which has nothing to say. Each request has a model of its own name. */
async function readBy(assignment: Assignment): Promise<PortableWork> {
  const { run, step, brief, request, artifacts, signal } = assignment;
  host ??= startScriptedModel((asked) => {
    seen.set(asked.body.model, seenByChat(asked));
    return { text: "Read.", usage: { input_tokens: 0, output_tokens: 0 } };
  });
  const client = new OpenAI({ apiKey: "none", baseURL: (await host).url, maxRetries: 0 });
  const model = randomUUID();
  const messages = conversationOf({ brief, messages: request.messages });
  await converse(
    { client, model, name: "player" },
    { run: `${run}/${step}`, messages, artifacts, signal },
  );
  return seen.get(model)!;
}

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
