import { createTool } from "@mastra/core/tools";
import type { Tool } from "@mastra/core/tools";
import {
  argumentsOf,
  failureForModel,
  failureToTell,
  remoteToolCard,
  resultForModel,
  workFrom,
} from "@waybill/agent/adapter";
import type { OnFailure } from "@waybill/agent/adapter";
import type { Agent, HandoffResult, QuestionEvent } from "@waybill/agent";
import type { Capability, Json, WaybillError } from "@waybill/protocol";
import { servedRun } from "./served-run.ts";
import type { ModelMessage } from "@waybill/agent/model-messages";
import { broughtAlong, handedOff } from "./remote.ts";
import type { RemoteOptions } from "./remote.ts";
import { wordsChunk } from "./streamed.ts";

/** Options for a capability of another agent as a tool of Mastra. */
export interface RemoteToolOptions extends RemoteOptions {
  /**
   * Whether the model is told of a failure as data, or the tool throws it, which ends a served run.
   * By default a served run ends, and the model of any other run is told.
   */
  readonly onFailure?: OnFailure | undefined;
}

/** The result of a remote tool: complete for the framework, of which the model is told less. */
export type RemoteResult =
  | Pick<HandoffResult, "by" | "output" | "messages" | "artifacts" | "usage">
  | { readonly by: string; readonly failure: WaybillError };

/** A capability of another agent as a tool of Mastra. */
export function remoteTool(
  agent: Agent,
  capability: Capability,
  options: RemoteToolOptions = {},
): Tool {
  const remote = { agent, capability, options };
  const { name, description, by: who } = remoteToolCard(capability, options);
  return createTool({
    id: name,
    description,
    inputSchema: argumentsOf(capability) as never,
    toModelOutput: (result: unknown) => ({ type: "text", value: told(result as RemoteResult) }),
    async execute(given: unknown, context): Promise<unknown> {
      const { agent: course, writer, requestContext, abortSignal: signal } = context;
      const served = servedRun(requestContext);
      const { runId } = context as { runId?: string };
      const { onFailure = served === undefined ? "tell" : "throw" } = options;
      const history = (course?.messages ?? []) as ModelMessage[];
      const { messages, artifacts } = broughtAlong(
        options,
        history,
        course?.agentId ?? name,
        requestContext,
      );
      const work = workFrom(given as Json, capability, messages, artifacts);
      const { resumeData, suspendPayload } = course ?? {};
      const answered = suspendPayload as { id?: string } | undefined;
      try {
        const result = await handedOff(remote, course?.toolCallId ?? "call", work, {
          requestContext,
          runId,
          thread: course?.threadId,
          signal,
          progress: (event) => writer?.write({ type: "waybill.progress", ...event }),
          delta: ({ text }) => writer?.write(wordsChunk(runId ?? name, text)),
          suspend: async (question) => {
            if (answered?.id === question.id) return (resumeData as { answer: Json }).answer;
            throw new Suspending(question);
          },
        });
        const { by, output, messages: said, artifacts: files, usage } = result;
        return { by, output, messages: said, artifacts: files, usage };
      } catch (thrown) {
        if (thrown instanceof Suspending && course !== undefined)
          return course.suspend(thrown.payload as never, { resumeSchema: ANSWER });
        const failure = failureToTell(thrown, onFailure, signal);
        if (failure === undefined) throw thrown;
        return { by: who, failure };
      }
    },
  }) as unknown as Tool;
}

/**
 * Mastra suspends a tool only when it returns, so this is thrown to stop waiting for the handoff.
 */
class Suspending extends Error {
  readonly payload: Pick<QuestionEvent, "id" | "text" | "data" | "schema">;

  constructor({ id, text, data, schema }: QuestionEvent) {
    super(`An answer is waited for: ${text ?? id}`);
    this.payload = { id, text, data, schema };
  }
}

const ANSWER = JSON.stringify({
  type: "object",
  properties: { answer: {} },
  required: ["answer"],
});

function told(result: RemoteResult): string {
  return "failure" in result ? failureForModel(result.by, result.failure) : resultForModel(result);
}
