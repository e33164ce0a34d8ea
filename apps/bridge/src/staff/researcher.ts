import { serveConversation } from "@waybill/adapter-conversation";
import { join, seat } from "./join.ts";
import { modelClient } from "./model.ts";

await join((agent) => {
  agent.serve(
    ...serveConversation(
      {
        client: modelClient(),
        model: seat.model.name,
        name: seat.id,
        instructions:
          "You are a researcher of a newsroom. Answer the question in one short sentence of fact.",
      },
      {
        name: "web_research",
        description: "Finds out what is known, and says it in a sentence.",
        input_schema: {
          type: "object",
          properties: { question: { type: "string" } },
          required: ["question"],
          additionalProperties: false,
        },
        output_schema: {
          type: "object",
          properties: { answer: { type: "string" } },
          required: ["answer"],
          additionalProperties: false,
        },
        concurrency: 2,
        lease_seconds: 3,
        effects: "none",
        reliability_sla: 0.9,
      },
    ),
  );
});
