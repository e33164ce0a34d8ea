import { conversationOf, offerOf, outputOf, textMessage } from "@waybill/agent/adapter";
import type { ErrorTable, Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import { messagesOf, modelMessagesOf } from "@waybill/agent/model-messages";
import type { ModelMessage } from "@waybill/agent/model-messages";
import type { Artifact, CapabilityInput, Json } from "@waybill/protocol";
import { generated } from "./generation.ts";
import type { Added, Generation, GenerationOptions } from "./generation.ts";
import { answeredBy, questionsIn } from "./question.ts";

/** An agent of the SDK, whatever its tools, its context and its output. */
export interface ServableAgent {
  readonly id: string | undefined;
  // Its call options are its own.
  // oxlint-disable-next-line typescript/no-explicit-any
  stream(options: any): PromiseLike<Generation>;
}

/** A function that runs `generateText` or `streamText` with the options that it is given. */
export type Generating = (
  options: GenerationOptions,
  run: Run,
) => PromiseLike<Generation> | Generation;

/** Options for serving an agent of the SDK. */
export interface ServeAgentOptions {
  /** The name under which it speaks, by default the agent's id. Nobody else speaks under it. */
  readonly name?: string | undefined;
  /** The agent's call options, if it requires any. */
  readonly options?: ((run: Run) => unknown) | undefined;
}

/** Options for serving a function. */
export type ServeGenerationOptions = Pick<ServeAgentOptions, "name">;

const ERRORS: ErrorTable = {
  AI_NoObjectGeneratedError: 520,
  AI_NoOutputGeneratedError: 520,
};

/**
 * A `ToolLoopAgent`, or any other agent of the SDK, as a capability.
 *
 * @example
 * ```ts
 * const editor = new ToolLoopAgent({ id: "editor", model, tools: { ask_delegator: questionTool() } });
 * agent.serve(...serveAgent(editor, { name: "edit" }));
 * ```
 */
export function serveAgent(
  agent: ServableAgent,
  capability: CapabilityInput,
  { name = agent.id, options }: ServeAgentOptions = {},
): Offer {
  const stream: Generating = (given, run) => agent.stream({ ...given, options: options?.(run) });
  return serveGeneration(stream, capability, { name });
}

/**
 * A function that runs `generateText` or `streamText`, as a capability.
 *
 * @example
 * ```ts
 * const summarise = (given: GenerationOptions) =>
 *   streamText({ model, instructions: "You summarise.", ...given });
 * agent.serve(...serveGeneration(summarise, { name: "summarise" }));
 * ```
 */
export function serveGeneration(
  start: Generating,
  capability: CapabilityInput,
  { name }: ServeGenerationOptions = {},
): Offer {
  return offerOf({
    capability,
    errors: ERRORS,
    names: name === undefined ? [] : [name],
    // The SDK keeps no conversations.
    keepsTranscripts: true,
    run: (run) => held(start, run, name),
  });
}

/** The progress of a run, as JSON. */
interface State {
  /** Includes the calls that wait for answers. */
  readonly added: readonly ModelMessage[];
  readonly artifacts: readonly Artifact[];
}

async function held(
  start: Generating,
  run: Run,
  name: string | undefined,
): Promise<Finished | Paused> {
  const { work, resume } = run;
  const { output_schema: schema } = run.capability;
  const asked = conversationOf(work, schema);
  const history = modelMessagesOf(asked, { self: name, artifacts: work.artifacts });
  let state = resume === undefined ? NOTHING : answered(resume.state, resume.answers);
  const goOn = async (): Promise<Added> => {
    const added = await generated(run, [...history, ...state.added], (given) => start(given, run));
    state = {
      added: [...state.added, ...added.messages],
      artifacts: [...state.artifacts, ...added.artifacts],
    };
    return added;
  };
  const said = await goOn();
  const questions = questionsIn(state.added);
  if (questions.length > 0) return { questions, state: JSON.stringify(state) };
  const given = await said.output();
  const again = async (request: string): Promise<string> => {
    const more = modelMessagesOf([textMessage("user", request)]);
    state = { ...state, added: [...state.added, ...more] };
    return wordsIn(await (await goOn()).output());
  };
  const isText = typeof given === "string";
  const output = isText ? await outputOf(given, schema, again) : (given as Json);
  const messages = work.messages && messagesOf(state.added, name);
  return { output, messages, artifacts: state.artifacts };
}

const NOTHING: State = { added: [], artifacts: [] };

function answered(text: string, answers: ReadonlyMap<string, Json>): State {
  const state = JSON.parse(text) as State;
  return { ...state, added: [...state.added, answeredBy(state.added, answers)] };
}

function wordsIn(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
