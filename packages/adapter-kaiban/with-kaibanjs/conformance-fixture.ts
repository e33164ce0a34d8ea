import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import type { HandoffResult } from "@waybill/agent";
import { textMessage } from "@waybill/agent/adapter";
import type { Message } from "@waybill/protocol";
import { Agent, Task, Team } from "kaibanjs";
import { member, remoteMember, serveTeam } from "../src/index.ts";

const WORDS_ALONE = "a task of KaibanJS comes to words or to a value, and to nothing else";

const IMAGES =
  "a task of KaibanJS is words, and work with an image in its history is refused with 422";

/** How the suite uses a team of KaibanJS: one with a member that plays is served, one with a remote member calls. */
export const fixture: AdapterFixture = {
  adapter: "kaiban",
  module: new URL(import.meta.url),
  gaps: {
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
        (run) => {
          const { messages, artifacts } = run.work;
          const player = member(
            Agent,
            { name: "player", role: "player", goal: "Plays." },
            async ({ task, signal }) => {
              const played = await act({
                work: {
                  brief: { instruction: task.interpolatedTaskDescription! },
                  ...(artifacts === undefined ? {} : { artifacts }),
                },
                history: messages,
                run: run.handoffId,
                traceparent: run.traceparent,
                signal,
                show: run.progress,
                ask: (id, text) => run.ask({ id, text }),
              });
              // As the model of an agent would.
              run.addUsage({ ...played.usage });
              return played.output ?? "";
            },
          );
          return team(player, "{request}");
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
  const listener = member(
    Agent,
    { name: "listener", role: "listener", goal: "Hears what the task before has come to." },
    async ({ context }) => {
      heard.push(textMessage("user", context));
      return "So it is.";
    },
  );
  const asked = new Team({
    name: "team",
    agents: [helper, listener],
    tasks: [
      taskOf(helper, brief?.instruction ?? "Find it out.", step),
      taskOf(listener, "Hear.", "listen"),
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

function team(agent: Agent, description: string): Team {
  const tasks = [taskOf(agent, description, "play")];
  return new Team({ name: "team", agents: [agent], tasks, logLevel: "silent" });
}

function taskOf(agent: Agent, description: string, title: string): Task {
  return new Task({ title, description, expectedOutput: "What was asked for.", agent });
}
