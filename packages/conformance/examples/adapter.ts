import { call, offerOf, repliesOf, sessionFor } from "@waybill/agent/adapter";
import { reportAdapter, reportAsText } from "@waybill/conformance";
import type { AdapterFixture } from "@waybill/conformance";

/** An adapter of no framework: what it serves is the suite's act itself. */
export const fixture: AdapterFixture = {
  adapter: "none",
  module: new URL(import.meta.url),

  serve: {
    names: ["served"],
    offer: ({ capability, act }) =>
      offerOf({
        capability,
        names: ["served"],
        // The earlier turns of a session are sent along with the next one: nothing else stores them.
        keepsTranscripts: true,
        async run({ work, handoffId, traceparent, signal, progress, addUsage, ask }) {
          const { usage, ...played } = await act({
            work,
            run: handoffId,
            traceparent,
            signal,
            show: progress,
            ask: (id, text) => ask({ id, text }),
          });
          addUsage({ ...usage });
          return played;
        },
      }),
  },

  call: {
    async run({
      agent,
      capability,
      run,
      step,
      work,
      to,
      timeoutMs,
      session,
      traceparent,
      signal,
      show,
      ask,
    }) {
      const result = await call(agent, {
        step: { run, step },
        capability: capability.name,
        to,
        ...work,
        timeoutMs,
        session: sessionFor(session, run),
        traceparent,
        signal,
        onProgress: ({ message = "" }) => show(message),
        onQuestion: ({ id, text = id }) => ask(id, text),
      });
      // What a model would be told of it.
      const heard = { as: "remote", messages: repliesOf(result, "remote") };
      return { ...result, usage: result.usage?.total, heard };
    },
  },
};

if (import.meta.main) console.log(reportAsText(await reportAdapter(fixture)));
