/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { HandoffHandle, HandoffResult, QuestionEvent } from "@waybill/agent";
import { failureForModel, markedAsData, mediaIn, resultForModel } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { ToolContent, ToolResult } from "./plugin-api.ts";

/** What becomes of a handoff, as a model is told. */
export type Outcome =
  | { readonly type: "result"; readonly result: HandoffResult }
  | { readonly type: "failure"; readonly failure: WaybillError; readonly by: string }
  | { readonly type: "question"; readonly question: QuestionEvent }
  | { readonly type: "working" };

/** The end of a handoff; `working` if the wait for it is over, and its end is not known. */
export async function endOf(handle: HandoffHandle): Promise<Outcome> {
  const { to } = handle.envelope;
  const by = typeof to === "string" ? to : to.capability;
  try {
    return { type: "result", result: await handle.result };
  } catch (error) {
    if (!WaybillError.is(error)) throw error;
    // The agent was stopped, or its hub is away: the handoff goes on.
    return handle.hasEnded ? { type: "failure", failure: error, by } : { type: "working" };
  }
}

/** An outcome in words. What comes from the other agent is marked as data. */
export function outcomeInWords(handoffId: string, outcome: Outcome): string {
  switch (outcome.type) {
    case "result":
      return `Handoff ${handoffId} is completed.\n${resultForModel(outcome.result)}`;
    case "failure":
      return `Handoff ${handoffId} has failed.\n${failureForModel(outcome.by, outcome.failure)}`;
    case "question": {
      const { by, id, text, data } = outcome.question;
      const asked = { question_id: id, text: text ?? null, data: data ?? null };
      return `Handoff ${handoffId} waits for an answer: use the tool answer.\n${markedAsData(by, asked)}`;
    }
    case "working":
      return `Handoff ${handoffId} is under way. Its end will be announced in this session, so there is nothing to wait for. The tool check tells how it stands.`;
  }
}

/** An outcome as the result of a tool, with the images that the other agent has shown. */
export function outcomeForModel(handoffId: string, outcome: Outcome): ToolResult {
  const text = outcomeInWords(handoffId, outcome);
  const images = outcome.type === "result" ? imagesIn(outcome.result) : [];
  const content: ToolContent[] = [{ type: "text", text }, ...images];
  return { content, details: { handoffId, outcome: outcome.type } };
}

function imagesIn({ messages, artifacts }: HandoffResult): ToolContent[] {
  const shown = messages.flatMap(mediaIn).filter(({ type }) => type === "image");
  const files = artifacts.filter(({ media_type }) => media_type.startsWith("image/"));
  return [...shown, ...files].flatMap(({ data, media_type: mimeType }): ToolContent[] => {
    if (data === undefined) return [];
    // OpenClaw passes it on to model providers, which take standard base64.
    const standard = Buffer.from(data, "base64url").toString("base64");
    return [{ type: "image", data: standard, mimeType }];
  });
}
