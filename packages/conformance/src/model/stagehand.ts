/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import { textOf, toolCallsOf, toolResultsOf, wordsOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message } from "@waybill/protocol";
import type { ModelRequest, Reply, SaidCall, Turn } from "@waybill/scripted-model";
import type { Act, Played } from "../adapter/fixture.ts";

/** What a played act does besides speaking, kept for the tools that do it. */
export class Props {
  readonly results: Map<string, Json> = new Map();
  readonly artifacts: Map<string, readonly Artifact[]> = new Map();
  readonly errors: Map<string, Error> = new Map();
}

/** Which part of a request has which meaning. */
export interface Scenery {
  readonly work: PortableWork;
  readonly run: string;
  readonly traceparent: string | undefined;
  /** The names of the tools that ask, show nothing, fail, and provide files. */
  readonly ask: string;
}

class Interrupt extends Error {
  readonly call: SaidCall;

  constructor(call: SaidCall) {
    super("The run waits for an answer.");
    this.call = call;
  }
}

/**
 * Plays an act as a model behind HTTP. What it shows is streamed, and what it asks is a tool call. The
 * act runs inside the run that made the request, as a tool would.
 */
export class Stagehand {
  readonly props: Props = new Props();
  readonly #act: Act;
  readonly #setting: (request: ModelRequest) => Scenery;
  /** The headers that link a request to its run. */
  readonly #labels: () => Readonly<Record<string, string>>;
  readonly #next: Map<string, Reply[]> = new Map();
  readonly #courses: Map<string, <Value>(play: () => Value) => Value> = new Map();
  #asked = 0;

  constructor(
    act: Act,
    setting: (request: ModelRequest) => Scenery,
    labels: () => Readonly<Record<string, string>> = () => ({}),
  ) {
    this.#act = act;
    this.#setting = setting;
    this.#labels = labels;
  }

  /** For a client: remembers in which run a request was made. */
  readonly fetch: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    const course = String(++this.#asked);
    this.#courses.set(course, AsyncLocalStorage.snapshot());
    headers.set("x-course", course);
    for (const [name, value] of Object.entries(this.#labels())) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };

  async reply(request: ModelRequest): Promise<Reply> {
    const scenery = this.#setting(request);
    const next = this.#next.get(scenery.run)?.shift();
    if (next !== undefined) return next;
    const shown = new Shown();
    const course = this.#courses.get(request.headers["x-course"] as string)!;
    const ended = course(() => this.#play(scenery, request.signal, shown)).finally(() =>
      shown.end(),
    );
    const rest = async (): Promise<Reply> => {
      const [first, ...others] = await ended;
      this.#next.set(scenery.run, others);
      return first!;
    };
    if (!(await shown.began())) return rest();
    // What was streamed so far is a turn of its own, and the act's result is the next.
    const calls = ended.then((turns) => {
      this.#next.set(scenery.run, turns);
      return [{ name: "go_on", arguments: {} }];
    });
    return { text: shown.pieces(), calls };
  }

  async #play(scenery: Scenery, signal: AbortSignal, shown: Shown): Promise<Reply[]> {
    const { work, run, traceparent, ask } = scenery;
    const answers = new Map(
      (work.messages ?? []).flatMap(toolResultsOf).map(({ id, output }) => [id, output]),
    );
    try {
      const played = await this.#act({
        work,
        run,
        traceparent,
        signal,
        show: (message) => shown.add(message),
        async ask(id, text) {
          const answer = answers.get(id);
          if (answer !== undefined) return answer;
          throw new Interrupt({ id, name: ask, arguments: { question: text } });
        },
      });
      return this.#turnsOf(run, played);
    } catch (thrown) {
      return [this.#failing(run, thrown as Error)];
    }
  }

  #turnsOf(run: string, { output, messages = [], artifacts = [], usage }: Played): Reply[] {
    for (const { id, output: result } of messages.flatMap(toolResultsOf))
      this.props.results.set(id, result);
    this.props.artifacts.set(run, artifacts);
    const attach: Turn = { calls: [{ name: "attach", arguments: {} }] };
    const turns = messages.filter(({ role }) => role === "assistant").map(turnOf);
    if (output !== undefined) turns.push({ text: wordsOf(output), usage });
    if (turns.length === 0) turns.push({ text: "" });
    return artifacts.length === 0 ? turns : [attach, ...turns];
  }

  /** A model fails with an error of its provider; what stops a run is thrown inside the run. */
  #failing(run: string, thrown: Error & { status?: number }): Reply {
    if (thrown instanceof Interrupt) return { calls: [thrown.call] };
    if (WaybillError.is(thrown) || thrown.name === "AbortError") {
      this.props.errors.set(run, thrown);
      return { calls: [{ name: "fail", arguments: {} }] };
    }
    const { message, status = 400, cause } = thrown;
    const error = { message, ...(cause instanceof Error ? { inner: cause.message } : {}) };
    return { status, error };
  }
}

function turnOf(message: Message): Turn {
  const calls = toolCallsOf(message);
  const text = textOf(message);
  return { ...(text === "" ? {} : { text }), ...(calls.length === 0 ? {} : { calls }) };
}

/** What an act shows, until it ends. */
class Shown {
  readonly #messages: string[] = [];
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  add(message: string): void {
    this.#messages.push(message);
    this.#changed.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#changed.resolve();
  }

  /** Whether anything was shown before the end. */
  async began(): Promise<boolean> {
    await this.#changed.promise;
    return this.#messages.length > 0;
  }

  async *pieces(): AsyncGenerator<string> {
    for (;;) {
      while (this.#messages.length > 0) yield this.#messages.shift()!;
      if (this.#isEnded) return;
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
  }
}
