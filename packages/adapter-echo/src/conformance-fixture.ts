import type { AdapterFixture, Played } from "@waybill/conformance";
import type { Json } from "@waybill/protocol";
import { Echo } from "./echo.ts";
import type { EchoReply } from "./echo.ts";
import { finishedOf, workOf } from "./from-echo.ts";
import { remoteTool } from "./remote-tool.ts";
import { serveEcho } from "./serve.ts";
import { fileOf, lineOf, promptOf } from "./to-echo.ts";

/** How the suite uses an Echo: as what is served, and as what calls. */
export const fixture: AdapterFixture = {
  adapter: "echo",
  module: new URL(import.meta.url),

  serve: {
    offer: ({ capability, act }) =>
      serveEcho(
        new Echo(async (turn) =>
          replyOf(
            await act({
              work: workOf(turn),
              run: turn.session,
              traceparent: turn.context?.["traceparent"],
              signal: turn.signal,
              show: turn.emit,
              ask: async (id, text) => turn.ask(id, text) as Json,
            }),
          ),
        ),
        capability,
      ),
  },

  call: {
    async run(request) {
      const { agent, capability, to, run, step, work, timeoutMs, traceparent, signal } = request;
      const { name } = capability;
      const echo = new Echo(
        (turn) => turn.use(name, step, turn),
        [remoteTool(agent, capability, { to, timeoutMs })],
      );
      const answers: Record<string, Json> = {};
      for (;;) {
        const reply = await echo.run(promptOf(work), {
          session: run,
          signal,
          onEvent: (event) => request.show(event as string),
          answers,
          context: { traceparent },
        });
        if (!("asks" in reply)) return finishedOf(reply);
        for (const { id, text } of reply.asks) answers[id] = await request.ask(id, text);
      }
    },
  },
};

function replyOf({ output, messages, artifacts }: Played): EchoReply {
  return {
    value: output,
    lines: messages?.map(lineOf),
    files: artifacts?.map(fileOf),
  };
}
