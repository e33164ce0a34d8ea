import { call, offerOf, refuseQuestion, repliesOf, sessionFor } from "@waybill/agent/adapter";
import type { Call, Listening, Offer, Run, Finished, Paused } from "@waybill/agent/adapter";
import type { HandoffResult } from "@waybill/agent";
import type { Json, Message } from "@waybill/protocol";
import type { AdapterFixture, CallRequest, OfferRequest, Played, Stage } from "./fixture.ts";

/** Faults that the plain adapter can be given. */
export interface Faults {
  /** Around one run of the framework. */
  readonly run?: (
    run: Run,
    next: (run: Run) => Promise<Finished | Paused>,
    request: OfferRequest,
  ) => Promise<Finished | Paused>;
  readonly offer?: (request: OfferRequest, next: (request: OfferRequest) => Offer) => Offer;
  /** Whether it claims that its milestones are a model's text: they are signed all the same. */
  readonly streams?: boolean;
  readonly stage?: (stage: Stage, run: Run) => Stage;
  /** Around one step that calls. */
  readonly calling?: (
    options: Call & Listening,
    next: (options: Call & Listening) => Promise<HandoffResult>,
    request: CallRequest,
  ) => Promise<HandoffResult>;
  readonly got?: (played: Played, request: CallRequest) => Played;
}

class Interrupt extends Error {
  readonly asked: { readonly id: string; readonly text: string };

  constructor(asked: { id: string; text: string }) {
    super("The run waits for an answer.");
    this.asked = asked;
  }
}

/** An adapter without a framework: the agent is the act itself. */
export function plainFixture(faults: Faults = {}): AdapterFixture {
  const offer = (request: OfferRequest): Offer => {
    const once = (run: Run) => play(request, run, faults.stage);
    return offerOf({
      capability: request.capability,
      names: ["plain"],
      keepsTranscripts: true,
      run: (run) => (faults.run === undefined ? once(run) : faults.run(run, once, request)),
    });
  };
  return {
    adapter: "plain",
    module: new URL(import.meta.url),
    serve: {
      names: ["plain"],
      streams: faults.streams,
      offer: (request) =>
        faults.offer === undefined ? offer(request) : faults.offer(request, offer),
    },
    call: {
      async run(request) {
        const options = optionsOf(request);
        const once = (each: Call & Listening) => call(request.agent, each);
        const result = await (faults.calling === undefined
          ? once(options)
          : faults.calling(options, once, request));
        const { output, messages, artifacts, usage } = result;
        const played = {
          output,
          ...(messages.length > 0 ? { messages } : {}),
          ...(artifacts.length > 0 ? { artifacts } : {}),
          ...(usage === undefined ? {} : { usage: usage.total }),
          heard: { as: "remote", messages: repliesOf(result, "remote") },
        };
        return faults.got?.(played, request) ?? played;
      },
    },
  };
}

/** A message without its media, for broken adapters. */
export function imageless(message: Message): Message {
  return { ...message, content: message.content.filter(({ type }) => type !== "image") };
}

export const fixture: AdapterFixture = plainFixture();

async function play(
  { act }: OfferRequest,
  run: Run,
  change: Faults["stage"],
): Promise<Finished | Paused> {
  const answers: ReadonlyMap<string, Json> = run.resume?.answers ?? new Map();
  const stage: Stage = {
    work: run.work,
    run: run.handoffId,
    traceparent: run.traceparent,
    signal: run.signal,
    show: (message) => run.progress(message),
    async ask(id, text) {
      const answer = answers.get(id);
      if (answer === undefined) throw new Interrupt({ id, text });
      return answer;
    },
  };
  try {
    const { usage = {}, ...played } = await act(change?.(stage, run) ?? stage);
    run.addUsage({ requests: 1, ...usage });
    return played;
  } catch (error) {
    if (error instanceof Interrupt) return { questions: [error.asked], state: "from the start" };
    throw error;
  }
}

function optionsOf(request: CallRequest): Call & Listening {
  const { run, step, work, timeoutMs, traceparent, signal, show, ask, capability, to } = request;
  const session = sessionFor(request.session, run);
  return {
    step: { run, step },
    capability: capability.name,
    to,
    ...work,
    timeoutMs,
    session,
    traceparent,
    signal,
    onProgress: ({ message = "" }) => show(message),
    onQuestion: (question) =>
      question.text === undefined ? refuseQuestion(question) : ask(question.id, question.text),
  };
}
