import OpenAI from "openai";
import { seat } from "./join.ts";

/** The model that the newsroom uses. It hears who asks, as a key would tell it. */
export function modelClient(): OpenAI {
  return new OpenAI({
    apiKey: "none",
    baseURL: seat.model.url,
    defaultHeaders: { "x-agent": seat.id },
    // Trying again is the hub's business, which has it on record.
    maxRetries: 0,
  });
}
