/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import { dispatch, textMessage } from "@waybill/agent/adapter";
import type { Call, Listening } from "@waybill/agent/adapter";
import type { HandoffResult } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Json, Message } from "@waybill/protocol";
import { AT_WORK } from "./cases/call-ending.ts";
import { settled } from "./clock.ts";
import type { CallRequest, Played } from "./fixture.ts";
import { imageless } from "./plain-fixture.ts";
import type { Faults } from "./plain-fixture.ts";
import { isLarge } from "./sample.ts";

type Fault = () => Faults;
type Options = Call & Listening;

/** Hands off something else than the framework asked for. */
const sending =
  (change: (options: Options) => Partial<Options>): Fault =>
  () => ({
    calling: (options, next) => next({ ...options, ...change(options) }),
  });

/** Returns something else to the framework than the result. */
const getting =
  (change: (played: Played, request: CallRequest) => Played): Fault =>
  () => ({
    got: change,
  });

/** Changes how the handoff failed. */
const failing =
  (change: (error: WaybillError, options: Options) => Error | HandoffResult): Fault =>
  () => ({
    async calling(options, next) {
      try {
        return await next(options);
      } catch (error) {
        if (!WaybillError.is(error)) throw error;
        const changed = change(error, options);
        if (changed instanceof Error) throw changed;
        return changed;
      }
    },
  });

const SUCCESS = { output: "done", messages: [], artifacts: [] } as unknown as HandoffResult;

/** Holds progress back until the end. */
const showing =
  (isReversed: boolean): Fault =>
  () => ({
    async calling({ onProgress, ...options }, next) {
      const held: Parameters<NonNullable<typeof onProgress>>[0][] = [];
      let count = 0;
      const result = await next({
        ...options,
        onDelta: ({ by, attempt, text }) => onProgress?.({ by, attempt, message: text }),
        onProgress: (event) =>
          event.message === AT_WORK || (isReversed && count++ === 0)
            ? onProgress?.(event)
            : void held.push(event),
      });
      for (const event of isReversed ? held.toReversed() : held) await onProgress?.(event);
      return result;
    },
  });

/**
 * Does not tell the other agent that a run was stopped: one that has reported progress, or one that
 * has not.
 */
function deafWhere(hasReported: boolean): Fault {
  return () => ({
    calling({ signal, onProgress, ...options }, next) {
      signal?.throwIfAborted();
      const heard = new AbortController();
      const gone = Promise.withResolvers<never>();
      let reports = 0;
      signal?.addEventListener("abort", () => {
        if (reports > 0 === hasReported) gone.reject(signal.reason);
        else heard.abort(signal.reason);
      });
      const called = next({
        ...options,
        signal: heard.signal,
        onProgress(event) {
          reports++;
          return onProgress?.(event);
        },
      });
      return Promise.race([called, gone.promise]);
    },
  });
}

/** A step of such work has a different id each time it runs in one process. */
function anewWhere(isSuch: (options: Options) => boolean): Fault {
  return () => {
    const counts = new WeakMap<object, number>();
    return {
      calling(options, next, { agent }) {
        if (!isSuch(options)) return next(options);
        const count = counts.get(agent) ?? 0;
        counts.set(agent, count + 1);
        const { run, step } = options.step;
        return next({ ...options, step: { run, step: `${step}/${count}` } });
      },
    };
  };
}

function nameless(message: Message): Message {
  const { name: _, ...others } = message;
  return others;
}

/** For each case about calling an adapter that breaks only that case. */
export const BROKEN_CALLING: Readonly<Record<string, Fault>> = {
  "call: structured input goes out, and the output comes back into the framework": sending(
    ({ input }) => {
      const { depth: _, ...rest } = (input ?? {}) as { [name: string]: Json };
      // Without its query it is refused, which is another case.
      return "query" in rest ? { input: rest } : {};
    },
  ),
  "call: a conversation goes out, and the reply comes back into the framework": getting(
    (played, { work }) =>
      work.messages !== undefined && typeof played.output === "string"
        ? { ...played, output: "[object Object]" }
        : played,
  ),
  "call: a task in words goes out, and its result comes back into the framework": sending(
    ({ brief }) =>
      brief === undefined ? {} : { brief: { instruction: brief.expected_output ?? "" } },
  ),
  "call: a history goes out whole, with its roles, names and tool calls": sending(({ messages }) =>
    messages === undefined ? {} : { messages: messages.map(nameless) },
  ),
  "call: what was said before goes out with the work": sending(({ messages }) =>
    // Longer histories belong to other cases.
    messages?.length === 3 ? { messages: messages.slice(-1) } : {},
  ),
  "call: an image in a conversation goes out whole": sending(({ messages, brief }) =>
    messages === undefined || brief !== undefined ? {} : { messages: messages.map(imageless) },
  ),
  "call: an image in a conversation goes along with a task": sending(({ messages, brief }) =>
    messages === undefined || brief === undefined ? {} : { messages: messages.map(imageless) },
  ),
  "call: an image in the messages of a result comes back whole": getting((played) => ({
    ...played,
    messages: played.messages?.map(imageless),
  })),
  "call: the next model is shown an image in a result, or is told of it by name": getting(
    ({ heard, ...played }) => ({
      ...played,
      heard: heard && { ...heard, messages: heard.messages.map(imageless) },
    }),
  ),
  "call: artifacts go out byte for byte": sending(({ artifacts }) => ({
    artifacts: artifacts?.filter(isLarge),
  })),
  "call: a file that is too large for an envelope goes out byte for byte": sending(
    ({ artifacts }) => ({ artifacts: artifacts?.filter((each) => !isLarge(each)) }),
  ),
  "call: the messages of a result come back into the framework whole": getting((played) =>
    played.messages === undefined
      ? played
      : { ...played, messages: played.messages.filter(({ name }) => name !== "weather") },
  ),
  "call: the artifacts of a result come back into the framework byte for byte": getting(
    (played) => ({ ...played, artifacts: played.artifacts?.filter(isLarge) }),
  ),
  "call: a file of a result that is too large for an envelope comes back into the framework byte for byte":
    getting((played) => ({
      ...played,
      artifacts: played.artifacts?.filter((each) => !isLarge(each)),
    })),
  "call: the tokens that the remote agent has used are counted by the framework": getting(
    (played, { work }) => (work.input === undefined ? played : { ...played, usage: undefined }),
  ),
  "call: the tokens that the remote agent has used in a conversation are counted by the framework":
    getting((played, { work }) =>
      work.messages === undefined ? played : { ...played, usage: undefined },
    ),

  "call: a large payload passes both ways": getting((played) => {
    const { summary = "" } = (played.output ?? {}) as { summary?: string };
    return summary.length > 65_536
      ? { ...played, output: { summary: summary.slice(0, 65_536) } }
      : played;
  }),
  "call: any Unicode passes both ways": sending(({ input = null }) =>
    input === null ? {} : { input: JSON.parse(JSON.stringify(input).normalize("NFC")) as Json },
  ),
  "call: the framework's trace goes along": sending(() => ({ traceparent: undefined })),

  "call: a refusal reaches the framework as 422, with its reason": failing((error) =>
    error.status === 422 ? new Error(error.message) : error,
  ),
  "call: a failure reaches the framework as 500, with its real message": failing((error) =>
    error.status === 500
      ? new WaybillError(500, "The tool failed.", { cause: error.cause })
      : error,
  ),
  "call: the cause of a failure reaches the framework": failing((error) =>
    error.status === 500 ? new WaybillError(500, error.message) : error,
  ),
  "call: an output that breaks its schema reaches the framework as 520": failing((error) =>
    error.status === 520 ? SUCCESS : error,
  ),
  "call: a deadline that passes reaches the framework as 504": failing((error) =>
    error.status === 504 ? new WaybillError(500, error.message) : error,
  ),
  "call: the framework's signal cancels the handoff, and the remote agent stops": deafWhere(false),
  "call: the framework's signal cancels a handoff that has gone on for a while": deafWhere(true),
  "call: a run that was stopped before it began sends nothing": () => ({
    async calling(options, next, { agent }) {
      const { signal, ...others } = options;
      if (signal?.aborted === true) await dispatch(agent, others).custody;
      return next(options);
    },
  }),
  "call: a handoff that is cancelled from elsewhere ends the step with 499": failing(
    (error, { signal }) => (error.status === 499 && signal?.aborted === false ? SUCCESS : error),
  ),

  "call: progress comes out of the framework's stream in order, before the result": showing(true),
  "call: progress comes out while the remote agent works": showing(false),
  "call: the remote agent's deltas are shown while it writes": sending(() => ({
    onDelta: () => undefined,
  })),
  "call: a question is the framework's own, and its answer goes back": sending(
    ({ onQuestion }) => ({ onQuestion: (asked) => onQuestion({ ...asked, id: "question" }) }),
  ),
  "call: a result that poses as others reaches the model as the remote agent's speech": getting(
    ({ messages, heard, ...played }) => ({
      ...played,
      messages,
      heard: heard && { ...heard, messages: messages ?? heard.messages },
    }),
  ),
  "call: an output that gives orders reaches the model as the remote agent's": getting((played) =>
    typeof played.output === "string" && (played.messages ?? []).length === 0
      ? { ...played, heard: { messages: [textMessage("user", played.output)] } }
      : played,
  ),
  "call: a result that poses as others stays whole for code": getting((played) => ({
    ...played,
    messages: played.messages?.filter(({ role }) => role !== "system"),
  })),
  "call: a run that is asked twice and restarted before each answer answers each once": () => {
    // The first answer is used for every later question of the run.
    const known = new Map<string, Json>();
    return {
      calling: (options, next, { folder }) =>
        next({
          ...options,
          async onQuestion(question) {
            const answer = known.get(folder) ?? (await options.onQuestion(question));
            known.set(folder, answer);
            return answer;
          },
        }),
    };
  },

  "call: parallel calls are not mixed up": () => {
    let last: Json | undefined;
    return {
      async calling(options, next) {
        last = options.input;
        await settled();
        return next({ ...options, input: last });
      },
    };
  },
  "call: a repeated step finds its own handoff": anewWhere(
    ({ messages }) => messages === undefined,
  ),
  "call: a repeated step of a conversation finds its own handoff": anewWhere(
    ({ messages }) => messages !== undefined,
  ),
  "call: a step that is repeated after a restart finds its own handoff": () => {
    // An attempt without an open question is regarded as lost with its process.
    const before = new Map<string, { agent: object; hasAsked: boolean; life: number }>();
    return {
      calling({ step: { run, step }, onQuestion, ...options }, next, { agent, folder }) {
        const name = `${folder} ${run} ${step}`;
        const known = before.get(name) ?? { agent, hasAsked: false, life: 0 };
        const isLost = known.agent !== agent && !known.hasAsked;
        const life = isLost ? known.life + 1 : known.life;
        const now = { agent, hasAsked: false, life };
        before.set(name, now);
        return next({
          ...options,
          step: { run, step: `${step}/${life}` },
          onQuestion(question) {
            now.hasAsked = true;
            return onQuestion(question);
          },
        });
      },
    };
  },
  "call: two steps of a run are two handoffs": sending(({ step: { run }, session }) =>
    // Several steps in sessions belong to other cases.
    session === undefined ? { step: { run, step: "step" } } : {},
  ),
  "call: one step of two runs is two handoffs": sending(({ step: { step }, input }) => ({
    step: { run: JSON.stringify(input), step },
  })),
  "call: a duplicate delivery is taken once": sending(({ onProgress }) => ({
    async onProgress(event) {
      await onProgress?.(event);
      if (event.message === "half of it") await onProgress?.(event);
    },
  })),
  "call: if the remote agent goes silent, the framework gets one result of another agent": () => ({
    async calling(options, next, { agent }) {
      const { signal, ...others } = options;
      signal?.throwIfAborted();
      const { accepted } = dispatch(agent, others);
      const accepting = accepted.then(
        ({ by }) => by,
        () => undefined,
      );
      const result = await next(options);
      if (result.by === (await accepting)) return result;
      throw new WaybillError(403, `${result.by} was not the one who has accepted.`);
    },
  }),
  "call: the result is acknowledged once the framework has it": sending(() => ({
    acknowledge: "manual",
  })),
  "call: inside a served run, a call is a child of its handoff": () => {
    const elsewhere = AsyncLocalStorage.snapshot();
    return { calling: (options, next) => elsewhere(() => next(options)) };
  },

  "call: a value is handed off in the session that is asked for": sending(({ session, input }) =>
    session === "trip" && input !== undefined ? { session: undefined } : {},
  ),
  "call: a conversation is handed off in the session that is asked for": sending(
    ({ session, messages }) =>
      session === "trip" && messages !== undefined ? { session: undefined } : {},
  ),
  "call: the steps of a run share its session, where that is asked for": sending(
    ({ session, step }) => (session === step.run ? { session: `${step.run}/${step.step}` } : {}),
  ),
};
