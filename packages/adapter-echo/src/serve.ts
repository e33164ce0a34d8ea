import { offerOf } from "@waybill/agent/adapter";
import type { ErrorTable, Offer } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import type { Echo } from "./echo.ts";
import { finishedOf } from "./from-echo.ts";
import { promptOf } from "./to-echo.ts";

const ERRORS: ErrorTable = { EchoLimitError: 413 };

/**
 * An Echo as a capability.
 *
 * @example
 * ```ts
 * agent.serve(...serveEcho(new Echo(), { name: "repeat" }));
 * ```
 */
export function serveEcho(echo: Echo, capability: CapabilityInput): Offer {
  return offerOf({
    capability,
    errors: ERRORS,
    async run(run) {
      const { work, handoffId, thread, session, signal, resume, progress, traceparent } = run;
      session?.found(echo.remembers(thread, handoffId));
      const reply = await echo.run(promptOf(work), {
        session: thread,
        // A retried turn is in the conversation once. Without a session nothing is remembered.
        turn: session && handoffId,
        signal,
        onEvent: progress,
        answers: resume && Object.fromEntries(resume.answers),
        context: { traceparent },
      });
      // An Echo stores nothing, and starts from the answers; a framework that does would save its
      // state here.
      if ("asks" in reply) return { questions: reply.asks, state: handoffId };
      run.addUsage({ input_tokens: reply.tokens?.read, output_tokens: reply.tokens?.written });
      return finishedOf(reply);
    },
  });
}
