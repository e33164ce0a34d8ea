import type { AdapterFixture, CallRequest, Played, PlayedUsage } from "@waybill/conformance";
import { seenByChat } from "@waybill/conformance/model";
import type { HandoffResult } from "@waybill/agent";
import type { Message } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Reply, ScriptedModel, Turn } from "@waybill/scripted-model";
import type { Agent, Task } from "kaibanjs";
import { member, remoteMember, serveTeam } from "../src/index.ts";

const WORDS_ALONE = "a task of KaibanJS comes to words or to a value, and to nothing else";

const IMAGES =
  "a task of KaibanJS is words, and work with an image in its history is refused with 422";

const FILES =
  "a task of KaibanJS is words: its model is told of files by name, and the team's factory and remote members have them";

/** Loaded on first use, so that this file can be imported where KaibanJS is not installed. */
const kaiban = () => import("kaibanjs");

/**
 * How the suite uses a team of KaibanJS: a team with a member that plays is served, and a team with
 * a remote member calls.
 */
export const fixture: AdapterFixture = {
  adapter: "kaiban",
  module: new URL(import.meta.url),
  hasNoRoles: true,
  gaps: {
    "serve: artifacts arrive byte for byte": FILES,
    "serve: a file that is too large for an envelope arrives byte for byte": FILES,
    "serve: an image that goes along with a conversation reaches the model": FILES,
    "serve: an image in a history reaches the model": IMAGES,
    "serve: an image that another agent has shown reaches the model": IMAGES,
    "serve: an image in the messages that a run has added comes back whole": WORDS_ALONE,
    "serve: the messages that a run has added come back whole, and no others": WORDS_ALONE,
    "serve: the artifacts that a run has made come back byte for byte": WORDS_ALONE,
    "serve: a file that a run has made and that is too large for an envelope comes back byte for byte":
      WORDS_ALONE,
  },

  serve: {
    names: ["player"],
    offer: ({ capability, act }) =>
      serveTeam(
        async (run) => {
          const { Agent, Team } = await kaiban();
          const seen: Message[] = [];
          const reader = await readerOf(`${run.handoffId}/${run.attempt}`, (each) =>
            seen.push(...each),
          );
          let usage: PlayedUsage | undefined;
          const counter = await counterOf(`${run.handoffId}/${run.attempt}/usage`, () => usage);
          const player = member(
            Agent,
            { name: "player", role: "player", goal: "Plays." },
            async ({ signal }) => {
              const played = await act({
                work: { messages: seen },
                history: run.work.messages,
                run: run.handoffId,
                traceparent: run.traceparent,
                signal,
                show: run.progress,
                ask: (id, text) => run.ask({ id, text }),
              });
              usage = played.usage;
              return played.output ?? "";
            },
          );
          const tasks = [
            await taskOf(reader, "{request}", "read"),
            await taskOf(player, "Play.", "play", true),
            await taskOf(counter, "Count.", "count"),
          ];
          return new Team({
            name: "team",
            agents: [reader, player, counter],
            tasks,
            logLevel: "silent",
          });
        },
        capability,
        { names: ["player"] },
      ),
  },

  call: { run: called },
};

async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, signal, traceparent } = request;
  signal.throwIfAborted();
  const { Agent, Team } = await kaiban();
  const { brief, input, ...rest } = work;
  let got: HandoffResult | undefined;
  let failure: unknown;
  const helper = remoteMember(Agent, agent, capability, {
    run,
    to,
    timeoutMs,
    session: request.session,
    traceparent,
    request: rest,
    input: () => input,
    onProgress: ({ message }) => request.show(message!),
    onQuestion: ({ id, text }) => request.ask(id, text!),
    onResult: (result) => (got = result),
    onFailure: (thrown) => (failure = thrown),
  });
  const heard: Message[] = [];
  const listener = await readerOf(`${run}/${step}`, (seen) => heard.push(...seen));
  const asked = new Team({
    name: "team",
    agents: [helper, listener],
    tasks: [
      await taskOf(helper, brief?.instruction ?? "Find it out.", step),
      await taskOf(listener, "Hear.", "listen"),
    ],
    logLevel: "silent",
  });
  const stop = () => void asked.stop();
  signal.addEventListener("abort", stop, { once: true });
  const over = new Promise<void>((resolve) => {
    asked.getStore().subscribe(({ teamWorkflowStatus: status }) => {
      if (["FINISHED", "ERRORED", "STOPPED"].includes(status)) resolve();
    });
  });
  asked.start().catch(() => undefined);
  await over;
  signal.throwIfAborted();
  if (got === undefined) throw failure;
  const { output, messages, artifacts, usage } = got;
  return { output, messages, artifacts, usage: usage?.total, heard: { messages: heard } };
}

async function taskOf(
  agent: Agent,
  description: string,
  title: string,
  isDeliverable = false,
): Promise<Task> {
  const { Task } = await kaiban();
  const expectedOutput = "What was asked for.";
  return new Task({ title, description, expectedOutput, agent, isDeliverable });
}

const scripts = new Map<string, (request: ModelRequest) => Reply>();
let host: Promise<ScriptedModel> | undefined;

/** An agent of KaibanJS with a model, which reports what it is shown. */
async function readerOf(model: string, hear: (seen: readonly Message[]) => void): Promise<Agent> {
  scripts.set(model, (request) => {
    hear(seenByChat(request).messages!);
    return final("So it is.", { input_tokens: 0, output_tokens: 0 });
  });
  return agentWith("reader", model);
}

/** An agent whose model reports the usage of the agent that plays. */
async function counterOf(model: string, used: () => PlayedUsage | undefined): Promise<Agent> {
  scripts.set(model, () => final("Counted.", used() ?? { input_tokens: 0, output_tokens: 0 }));
  return agentWith("counter", model);
}

/** The model is identified by its name, because all use the same host. */
async function agentWith(name: string, model: string): Promise<Agent> {
  const { Agent } = await kaiban();
  host ??= startScriptedModel((request) => scripts.get(request.body.model)!(request));
  const { url: baseURL } = await host;
  const llmConfig = {
    provider: "openai",
    model,
    apiKey: "none",
    maxRetries: 0,
    configuration: { baseURL },
  };
  return new Agent({ name, role: name, goal: "Reads.", background: "", llmConfig });
}

/** The form in which KaibanJS has a model finish a task. */
function final(finalAnswer: string, usage: PlayedUsage | undefined): Turn {
  return { text: JSON.stringify({ thought: "I know.", finalAnswer }), usage };
}
