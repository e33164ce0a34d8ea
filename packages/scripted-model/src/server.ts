/// <reference types="node" />
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerChat } from "./chat.ts";
import { Exchange } from "./exchange.ts";
import { failureOf } from "./failure.ts";
import { refusalOf } from "./refusal.ts";
import { answerResponses } from "./responses.ts";
import type { ModelRequest, Reply, Script } from "./turn.ts";

/** A running model that replies according to its script. */
export interface ScriptedModel {
  /** The base URL for a client. */
  readonly url: string;
  /** All requests so far. */
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

const APIS: Readonly<Record<string, ModelRequest["api"]>> = {
  "/v1/chat/completions": "chat",
  "/v1/responses": "responses",
};

const ANSWERS = { chat: answerChat, responses: answerResponses } as const;

/**
 * A server on the loopback that answers as OpenAI's does, with what the script says.
 *
 * @example
 * ```ts
 * const model = await startScriptedModel(() => ({ text: "The tide comes twice a day." }));
 * const client = new OpenAI({ baseURL: model.url, apiKey: "none" });
 * ```
 */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response, script, requests).catch((error: unknown) =>
      response.destroy(error as Error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  script: Script,
  requests: ModelRequest[],
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort(new Error("The client is gone."));
  });
  const { headers, url = "", method } = incoming;
  const api = APIS[url.split("?")[0]!];
  const exchange = new Exchange(response, `req_${requests.length}`);
  if (api === undefined || method !== "POST") {
    const message = `Invalid URL (${method} ${url})`;
    return exchange.fail({ status: 404, error: { message, code: null } }, "chat");
  }
  if (headers.authorization === undefined) return exchange.fail({ status: 401 }, api);
  let body: unknown;
  try {
    body = JSON.parse(await textOf(incoming));
  } catch {
    const message = "We could not parse the JSON body of your request.";
    return exchange.fail({ status: 400, error: { message } }, api);
  }
  const index = requests.length;
  const request: ModelRequest = { api, body, headers, index, signal: gone.signal };
  requests.push(request);
  try {
    const reply = refusalOf(request) ?? (await replyTo(script, request));
    if (gone.signal.aborted) return;
    if ("malformed" in reply) exchange.text(200, reply.malformed);
    else if ("status" in reply) exchange.fail(reply, api);
    else await ANSWERS[api](reply, request, exchange);
  } catch (thrown) {
    if (!gone.signal.aborted) exchange.fail(failureOf(thrown), api);
  }
}

function replyTo(script: Script, request: ModelRequest): Reply | Promise<Reply> {
  if (typeof script === "function") return script(request);
  const reply = script[request.index];
  if (reply !== undefined) return reply;
  throw new Error(`The script has ${script.length} turns, and was asked for one more.`);
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const piece of incoming) text += piece as string;
  return text;
}
