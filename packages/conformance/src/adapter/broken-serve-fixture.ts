/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { Finished, Paused, Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { CapabilityInput, Json, Message, StatusCode } from "@waybill/protocol";
import { settled } from "./clock.ts";
import { imageless } from "./plain-fixture.ts";
import type { Faults } from "./plain-fixture.ts";
import { isLarge } from "./sample.ts";

type Fault = () => Faults;

/** Gives the framework other work than it received. */
const given =
  (change: (run: Run) => Partial<Run["work"]>): Fault =>
  () => ({
    run: (run, next) => next({ ...run, work: { ...run.work, ...change(run) } }),
  });

/** Returns something else than the framework's result. */
const ending =
  (change: (finished: Finished, run: Run) => Finished): Fault =>
  () => ({
    async run(run, next) {
      const ended = await next(run);
      return "questions" in ended ? ended : change(ended, run);
    },
  });

/** Throws another error than the framework's. */
const failing =
  (change: (error: Error & { status?: unknown }) => Error): Fault =>
  () => ({
    async run(run, next) {
      try {
        return await next(run);
      } catch (error) {
        if (WaybillError.is(error) || run.signal.aborted || !(error instanceof Error)) throw error;
        throw change(error);
      }
    },
  });

/** Shows a run messages of earlier runs with its name that it has no part in. */
const recalling =
  (nameOf: (run: Run) => string | undefined, isForeign: (one: Run, other: Run) => boolean): Fault =>
  () => {
    let earlier: { readonly name: string; readonly run: Run }[] = [];
    return {
      offer(request, next) {
        earlier = [];
        return next(request);
      },
      run(run, next) {
        const name = nameOf(run);
        const recalled = earlier
          .filter((each) => each.name === name && isForeign(each.run, run))
          .flatMap((each) => each.run.work.messages ?? []);
        if (name !== undefined) earlier.push({ name, run });
        if (recalled.length === 0) return next(run);
        const messages = [...recalled, ...(run.work.messages ?? [])];
        return next({ ...run, work: { ...run.work, messages } });
      },
    };
  };

const offering =
  (change: Partial<CapabilityInput>): Fault =>
  () => ({
    offer: (request, next) =>
      next({ ...request, capability: { ...request.capability, ...change } }),
  });

/** Hides one reason to stop from the framework. */
const deafTo =
  (status: StatusCode): Fault =>
  () => ({
    run(run, next) {
      const heard = new AbortController();
      run.signal.addEventListener("abort", () => {
        if (!WaybillError.is(run.signal.reason, status)) heard.abort(run.signal.reason);
      });
      return next({ ...run, signal: heard.signal });
    },
  });

/** Holds progress back until the end. */
const showing =
  (order: (events: unknown[]) => unknown[], isFirstLive: boolean): Fault =>
  () => ({
    async run(run, next) {
      const held: unknown[] = [];
      let count = 0;
      const progress = (event: unknown) =>
        void (isFirstLive && count++ === 0 ? run.progress(event) : held.push(event));
      const ended = await next({ ...run, progress });
      order(held).forEach(run.progress);
      return ended;
    },
  });

const summaryOf = ({ output }: Finished): string =>
  String((output as { summary?: unknown } | undefined)?.summary);

/** Drops media that models take from fewer roles than text. */
function showingNo(type: string, role: Message["role"]): Fault {
  return given(({ work }) =>
    work.messages === undefined
      ? {}
      : {
          messages: work.messages.map((message) =>
            message.role === role
              ? { ...message, content: message.content.filter((part) => part.type !== type) }
              : message,
          ),
        },
  );
}

function ofKnownMembers({ role, name, content }: Message): Message {
  return { role, ...(name === undefined ? {} : { name }), content };
}

/** Drops the names of users: model providers may have a field for those of assistants only. */
function nameless(message: Message): Message {
  const { name: _, ...others } = message;
  return message.role === "user" ? others : message;
}

/** For each case about serving an adapter that breaks only that case. */
export const BROKEN_SERVING: Readonly<Record<string, Fault>> = {
  "serve: structured input reaches the framework, and its output comes back": given(({ work }) => {
    const { depth: _, ...input } = (work.input ?? {}) as { [name: string]: Json };
    return work.input === undefined ? {} : { input };
  }),
  "serve: a conversation reaches the framework, and its reply comes back": ending(
    (finished, { work, session }) =>
      session === undefined && work.messages !== undefined && typeof finished.output === "string"
        ? { ...finished, output: "[object Object]" }
        : finished,
  ),
  "serve: a task in words reaches the framework, and its result comes back": given(({ work }) =>
    work.brief === undefined ? {} : { brief: { instruction: work.brief.expected_output ?? "" } },
  ),
  "serve: a history is seen with its roles, names and tool calls": () => ({
    stage: (stage) =>
      stage.work.messages === undefined
        ? stage
        : {
            ...stage,
            history: stage.work.messages,
            work: { ...stage.work, messages: stage.work.messages.map(nameless) },
          },
  }),
  "serve: code in the framework gets the complete history": () => ({
    stage: (stage) => ({ ...stage, history: stage.work.messages?.map(ofKnownMembers) }),
  }),
  "serve: an image in a history reaches the model": showingNo("image", "user"),
  "serve: an image that another agent has shown reaches the model": showingNo("image", "assistant"),
  "serve: an image that goes along with a conversation reaches the model": given(({ work }) =>
    work.artifacts === undefined
      ? {}
      : { artifacts: work.artifacts.filter((each) => each.media_type !== "image/png") },
  ),
  "serve: a recording and a file reach the model, or are refused with the reason": showingNo(
    "audio",
    "user",
  ),
  "serve: artifacts arrive byte for byte": given(({ work }) =>
    work.artifacts === undefined
      ? {}
      : {
          artifacts: work.artifacts.map((each) =>
            each.media_type === "image/png" || isLarge(each)
              ? each
              : { ...each, data: `${each.data}AAAA` },
          ),
        },
  ),
  "serve: an image in the messages that a run has added comes back whole": ending((finished) => ({
    ...finished,
    messages: finished.messages?.map(imageless),
  })),
  "serve: a file that is too large for an envelope arrives byte for byte": given(({ work }) =>
    work.artifacts === undefined
      ? {}
      : { artifacts: work.artifacts.filter((each) => !isLarge(each)) },
  ),
  "serve: the messages that a run has added come back whole, and no others": ending(
    (finished, { work }) =>
      finished.messages === undefined
        ? finished
        : { ...finished, messages: [...(work.messages ?? []), ...finished.messages] },
  ),
  "serve: the artifacts that a run has made come back byte for byte": ending((finished) =>
    finished.artifacts === undefined
      ? finished
      : {
          ...finished,
          artifacts: finished.artifacts.map((each) =>
            isLarge(each) ? each : { ...each, media_type: "text/plain" },
          ),
        },
  ),
  "serve: a file that a run has made and that is too large for an envelope comes back byte for byte":
    ending((finished) =>
      finished.artifacts === undefined
        ? finished
        : { ...finished, artifacts: finished.artifacts.filter((each) => !isLarge(each)) },
    ),
  "serve: the tokens that the model reports are in the result's usage": () => ({
    run: (run, next) => next({ ...run, addUsage: () => undefined }),
  }),

  "serve: a large payload passes both ways": ending((finished) =>
    summaryOf(finished).length > 65_536
      ? { ...finished, output: { summary: summaryOf(finished).slice(0, 65_536) } }
      : finished,
  ),
  "serve: any Unicode passes both ways": given(({ work }) =>
    work.input === undefined
      ? {}
      : { input: JSON.parse(JSON.stringify(work.input).normalize("NFC")) as Json },
  ),

  "serve: input that breaks its schema is a 422, and nothing runs": offering({ input_schema: {} }),
  "serve: output that breaks its schema is a 520": offering({ output_schema: {} }),
  "serve: an empty success is a 520": ending((finished) =>
    Object.values(finished).every((each) => each === undefined) ? { output: {} } : finished,
  ),
  "serve: a framework's error is a 500 with its real message": failing((error) =>
    error.name === "Error" && error.cause === undefined ? new Error("The tool failed.") : error,
  ),
  "serve: the cause of a framework's error is reported": failing((error) =>
    error.cause === undefined ? error : new Error(error.message),
  ),
  "serve: an HTTP status of a run's own request is not the handoff's": failing((error) =>
    error.status === undefined ? error : WaybillError.from(error),
  ),
  "serve: a run that stops itself ends as 499": failing((error) =>
    error.name === "AbortError" ? new Error(error.message) : error,
  ),

  "serve: at the deadline the framework's signal fires, and the run stops": deafTo(504),
  "serve: a handoff that is cancelled stops the framework's run": deafTo(499),
  "serve: released work stops here, and is done by another agent": deafTo(300),
  "serve: a stopping agent finishes its runs, and takes no more": ending((finished) =>
    summaryOf(finished) === "finished" ? { output: { summary: "broken off" } } : finished,
  ),

  "serve: progress comes out in order, and all of it before the result": showing(
    (events) => events.toReversed(),
    true,
  ),
  "serve: progress comes out while the run goes on": showing((events) => events, false),
  "serve: a model's text goes out in unsigned deltas, and milestones are signed": () => ({
    streams: true,
  }),
  "serve: a question comes out by its id, and its answer goes in": () => ({
    stage: (stage) => ({ ...stage, ask: (id) => stage.ask(id, "It has a question.") }),
  }),
  "serve: a history that poses as others reaches the framework as the delegator's account": () => ({
    // Messages of earlier turns in a session do not belong to the received work.
    run: (run, next) => next(run.session === undefined ? { ...run, work: run.received } : run),
  }),
  "serve: a run that asks twice and is restarted before each answer resumes where it was": () => ({
    // The state to resume from is only in the memory of this process.
    offer(request, next) {
      const known = new Set<string>();
      const [capability, handler] = next(request);
      return [
        capability,
        (work) => {
          // After the first answer there is hardly any state yet.
          const isFarOn = (work.resume?.answers.size ?? 0) > 1;
          if (isFarOn && !known.has(work.handoffId)) {
            throw new WaybillError(500, "There is no such session.");
          }
          known.add(work.handoffId);
          return handler(work);
        },
      ];
    },
  }),
  "serve: an answer that is repeated after a crash answers no other question": () => {
    // An answer counts as used once the run has continued with it.
    const used = new Set<string>();
    return {
      run(run, next) {
        const answers = [...(run.resume?.answers.keys() ?? [])];
        const name = `${run.handoffId} ${answers.join()}`;
        if (answers.length === 0 || !used.has(name)) {
          used.add(name);
          return next(run);
        }
        const again = new Map([...run.resume!.answers, ["day", run.resume!.answers.get("town")!]]);
        return next({ ...run, resume: { ...run.resume!, answers: again } });
      },
    };
  },
  "serve: a second answer to one question changes nothing": () => {
    // The answer of an earlier attempt is used for every later question.
    const first = new WeakMap<object, { attempt: number; answer: Json }>();
    return {
      run(run, next, request) {
        const known = first.get(request);
        const { resume } = run;
        const [answer] = resume?.answers.values() ?? [];
        // A process that was killed before it resumed does not remember it.
        if (known === undefined && answer !== undefined && run.attempt === 2) {
          first.set(request, { attempt: run.attempt, answer });
        }
        if (known === undefined || resume === undefined) return next(run);
        const answers = new Map([...resume.answers.keys()].map((id) => [id, known.answer]));
        return next({ ...run, resume: { ...resume, answers } });
      },
    };
  },

  "serve: parallel handoffs are not mixed up": () => {
    let last: Run["work"];
    return {
      async run(run, next): Promise<Finished | Paused> {
        last = run.work;
        await settled();
        return next({ ...run, work: last });
      },
    };
  },
  "serve: never more runs at once than the capability allows": offering({ concurrency: undefined }),
  "serve: a duplicate delivery runs once": () => ({
    async run(run, next) {
      const ended = await next(run);
      return !("questions" in ended) && summaryOf(ended).startsWith("run ") ? next(run) : ended;
    },
  }),
  "serve: every attempt runs under the same name, which is the handoff's id": () => ({
    stage: (stage, { attempt }) =>
      attempt === 1 ? stage : { ...stage, run: `${stage.run}/${attempt}` },
  }),
  "serve: the framework sees the trace of the handoff": () => ({
    stage: (stage) => ({ ...stage, traceparent: undefined }),
  }),
  "serve: a handoff made inside a run is its child": () => {
    // As in a pool of workers that existed before the work.
    const elsewhere = AsyncLocalStorage.snapshot();
    return { run: (run, next) => elsewhere(() => next(run)) };
  },
  "serve: a failed child makes a 424": () => ({
    async run(run, next) {
      try {
        return await next(run);
      } catch (error) {
        throw WaybillError.is(error, 413) ? new WaybillError(413, error.message) : error;
      }
    },
  }),
  "serve: handoffs of one session share a conversation": () => ({
    run(run, next) {
      // A turn that continues with its answer belongs to another case.
      if (run.resume === undefined) run.session?.found(false);
      return next(run);
    },
  }),
  "serve: two sessions share nothing": recalling(
    ({ delegator, session }) => session && delegator,
    (one, other) => one.thread !== other.thread,
  ),
  "serve: the same session id of another delegator is another session": recalling(
    ({ session }) => session?.id,
    (one, other) => one.delegator !== other.delegator,
  ),
  "serve: without a session nothing is shared": recalling(
    ({ session, work }) =>
      session === undefined && work.input === undefined && work.messages?.length === 1
        ? "everybody"
        : undefined,
    () => true,
  ),
  "serve: handoffs of one session run one after the other": () => ({
    offer(request, next) {
      const [capability, handler] = next(request);
      let running = 0;
      return [
        capability,
        async (work) => {
          const [, beside] = next(request);
          try {
            return await (running++ === 0 ? handler : beside)(work);
          } finally {
            running--;
          }
        },
      ];
    },
  }),
  "serve: a retried turn is in its conversation once": () =>
    repeatingTurn(({ attempt, resume }) => attempt > 1 && resume === undefined),
  "serve: a turn that asks continues with the answer": () =>
    repeatingTurn(({ resume }) => resume !== undefined),
};

/** A repeated turn of a session is in its conversation twice from then on. */
function repeatingTurn(isRunAgain: (run: Run) => boolean): Faults {
  const twice = new Map<string, Message[]>();
  return {
    run(run, next) {
      const { messages = [] } = run.work;
      const before = twice.get(run.thread) ?? [];
      if (run.session !== undefined && isRunAgain(run)) twice.set(run.thread, messages.slice(-1));
      const all = [...before, ...messages];
      return next(before.length === 0 ? run : { ...run, work: { ...run.work, messages: all } });
    },
  };
}

/** The same for processes that are killed: modules that such a process loads. */
export const BROKEN_PROCESSES: Readonly<Record<string, URL>> = {
  "serve: after a recipient is killed during its run there is another attempt": new URL(
    "broken-lock-fixture.ts",
    import.meta.url,
  ),
  "serve: a recipient that is killed while it waits resumes with the answer": new URL(
    "broken-memory-fixture.ts",
    import.meta.url,
  ),
};
