import { briefOf, mediaIn, offerOf, outputOf, unshowable } from "@waybill/agent/adapter";
import type { CountedUsage, Finished, Offer, Run } from "@waybill/agent/adapter";
import { parseJson, stringifyJson } from "@waybill/protocol";
import type { Artifact, CapabilityInput, Json } from "@waybill/protocol";
import type { KaibanLog, KaibanState, KaibanTask, KaibanTeam } from "./kaiban.ts";
import { failureIn } from "./member.ts";
import { filesOf } from "./results.ts";

/** Options for serving a team of KaibanJS. */
export interface ServeTeamOptions {
  /** The names of its agents: nobody speaks under them in a history from outside. */
  readonly names?: readonly string[] | undefined;
}

/**
 * A team of KaibanJS as a capability. The team is created for each handoff, because it holds the
 * state of one run. Its inputs are the handoff's input, and `request`, which is the work as text.
 *
 * @example
 * ```ts
 * const newsroom = () => new Team({ name: "newsroom", agents: [writer], tasks: [write] });
 * agent.serve(...serveTeam(newsroom, { name: "report" }));
 * ```
 */
export function serveTeam(
  make: (run: Run) => Promise<KaibanTeam> | KaibanTeam,
  capability: CapabilityInput,
  { names }: ServeTeamOptions = {},
): Offer {
  return offerOf({
    capability,
    names,
    keepsTranscripts: true,
    run: async (run) => worked(await make(run), run),
  });
}

async function worked(team: KaibanTeam, run: Run): Promise<Finished> {
  const { work, signal } = run;
  const { output_schema: schema } = run.capability;
  signal.throwIfAborted();
  const [media] = (work.messages ?? []).flatMap(mediaIn);
  if (media !== undefined) throw unshowable(media, "a task of KaibanJS is words");
  const { instruction, expected_output: expected } = briefOf(work, schema);
  const given = typeof work.input === "object" && !Array.isArray(work.input) ? work.input : {};
  const request = [
    instruction,
    ...(work.artifacts === undefined ? [] : [filesInWords(work.artifacts)]),
    ...(expected === undefined ? [] : [`Expected: ${expected}`]),
  ].join("\n\n");
  const result = await ended(team, run, { ...given, request });
  const artifacts = filesOf(team.getStore());
  if (typeof result === "string") return { output: await outputOf(result, schema), artifacts };
  const output = result === undefined ? undefined : parseJson(stringifyJson(result));
  return { output, artifacts };
}

/** A task is text: it names the files, and the factory and remote members have them. */
function filesInWords(artifacts: readonly Artifact[]): string {
  const files = artifacts.map(({ name, media_type }) => `${name} (${media_type})`);
  return `Files that go along: ${files.join(", ")}`;
}

/**
 * `start()` never settles once a team is stopped, and settles before tasks that await validation
 * are done.
 */
function ended(team: KaibanTeam, run: Run, inputs: Record<string, unknown>): Promise<unknown> {
  const store = team.getStore();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const asked = new Set<string>();
  let shown = 0;
  const heard = (): void => {
    const state = store.getState();
    for (const log of state.workflowLogs.slice(shown)) {
      if (isNews(log)) run.progress({ message: log.logDescription });
      const used = usageIn(log);
      if (used !== undefined) run.addUsage(used);
    }
    shown = state.workflowLogs.length;
    if (state.teamWorkflowStatus === "FINISHED") resolve(state.workflowResult);
    if (state.teamWorkflowStatus === "ERRORED") reject(failureIn(store) ?? errorIn(state));
    if (state.teamWorkflowStatus !== "BLOCKED") return;
    const waiting = team.getTasksByStatus("AWAITING_VALIDATION");
    if (waiting.length === 0) reject(errorIn(state));
    for (const task of waiting) {
      if (asked.has(task.id)) continue;
      asked.add(task.id);
      validated(team, run, task, `${task.title}/${state.workflowLogs.length}`, () =>
        asked.delete(task.id),
      ).catch(reject);
    }
  };
  const stop = () => {
    // A stopped run ends here, whatever the team does.
    team.stop().catch(() => undefined);
    reject(run.signal.reason);
  };
  const unsubscribe = store.subscribe(heard);
  run.signal.addEventListener("abort", stop, { once: true });
  team.start(inputs).catch(reject);
  return promise.finally(() => {
    unsubscribe();
    run.signal.removeEventListener("abort", stop);
  });
}

/** KaibanJS logs the usage of a model after each of its answers. */
function usageIn({ agentStatus, metadata, agent }: KaibanLog): CountedUsage | undefined {
  if (agentStatus !== "THINKING_END") return undefined;
  const { output } = (metadata ?? {}) as { output?: { llmUsageStats?: KaibanUsage } };
  const { inputTokens, outputTokens } = output?.llmUsageStats ?? {};
  const model = agent?.llmConfig?.model;
  return { model, requests: 1, input_tokens: inputTokens, output_tokens: outputTokens };
}

/** KaibanJS reports unknown counts as -1. */
interface KaibanUsage {
  readonly inputTokens?: unknown;
  readonly outputTokens?: unknown;
}

/** The attempt itself reports that the team and its tasks begin. */
function isNews({ logType, taskStatus }: KaibanLog): boolean {
  if (logType === "WorkflowStatusUpdate") return false;
  return logType !== "TaskStatusUpdate" || taskStatus !== "DOING";
}

/** Asks the delegator about a task that awaits validation: `true`, or what is to be improved. */
async function validated(
  team: KaibanTeam,
  run: Run,
  task: KaibanTask,
  id: string,
  answered: () => void,
): Promise<void> {
  const result = task.result as Json;
  const words = typeof result === "string" ? result : JSON.stringify(result);
  const answer = await run.ask({
    id,
    text: `Is this right? ${task.title ?? task.description}: ${words}`,
    data: { task: task.title ?? task.description, result: result ?? null },
    schema: { type: ["boolean", "string"] },
  });
  answered();
  if (answer === true) team.validateTask(task.id);
  else team.provideFeedback(task.id, typeof answer === "string" ? answer : "That is not right.");
}

/**
 * KaibanJS has the original error only in its logs, wrapped in one of its own if a model's host has
 * failed.
 */
function errorIn({ workflowLogs }: KaibanState): Error {
  const told = workflowLogs.toReversed().flatMap(({ metadata }) => {
    const { error, blockReason } = Object(metadata) as Record<string, unknown>;
    return error ?? blockReason ?? [];
  });
  const inner = told.flatMap(
    (each) => (Object(each) as { originalError?: unknown }).originalError ?? [],
  );
  const error = [...inner, ...told].find((each) => each instanceof Error);
  if (error !== undefined) return error;
  const [reason = "it does not say why"] = told;
  return new Error(
    `The team did not finish: ${typeof reason === "string" ? reason : JSON.stringify(reason)}`,
  );
}
