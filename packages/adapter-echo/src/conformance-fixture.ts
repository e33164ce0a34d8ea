import type { AdapterFixture, Played } from "@waybill/conformance";
import { textMessage } from "@waybill/agent/adapter";
import type { Json, Message } from "@waybill/protocol";
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
              // A bot reads the lines, and can also have what goes along with them.
              work: workOf({
                ...turn,
                lines: turn.lines.map(({ speaker, name, text }) => ({ speaker, name, text })),
              }),
              history: workOf(turn).messages,
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
        [remoteTool(agent, capability, { to, timeoutMs, session: request.session })],
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
        if (!("asks" in reply)) return playedOf(reply, name);
        for (const { id, text } of reply.asks) answers[id] = await request.ask(id, text);
      }
    },
  },
};

/** A tool's reply for code, and its lines for a reader. */
function playedOf(reply: EchoReply, as: string): Played {
  const { lines = [], tokens } = reply;
  const messages = lines.flatMap(({ extra }) => (extra?.["received"] as Message | undefined) ?? []);
  const heard = lines.map(({ speaker, name, text }) =>
    textMessage(speaker as Message["role"], text, name),
  );
  const usage = tokens && { input_tokens: tokens.read, output_tokens: tokens.written };
  return { ...finishedOf(reply), messages, usage, heard: { as, messages: heard } };
}

function replyOf({ output, messages, artifacts, usage }: Played): EchoReply {
  return {
    value: output,
    lines: messages?.map(lineOf),
    files: artifacts?.map(fileOf),
    tokens: usage && { read: usage.input_tokens, written: usage.output_tokens },
  };
}
