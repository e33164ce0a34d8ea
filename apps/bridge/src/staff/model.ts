import OpenAI from "openai";
import { seat } from "./join.ts";

/** The newsroom's client of the model. It sends the agent's name, like a key would. */
export function modelClient(): OpenAI {
  return new OpenAI({
    apiKey: "none",
    baseURL: seat.model.url,
    defaultHeaders: { "x-agent": seat.id },
    // Retries are the hub's job, which records them.
    maxRetries: 0,
  });
}
