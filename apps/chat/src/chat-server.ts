/// <reference types="node" />
// The server of the page: it bundles the page, and runs the model that hands off.
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { convertToModelMessages, isStepCount, streamText, toUIMessageStream } from "ai";
import { pipeUIMessageStreamToResponse } from "ai";
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import { rolldown } from "rolldown";

/** The model of a chat, and its tools: made for each chat, whose id identifies their run. */
export interface ChatOptions {
  readonly model: LanguageModel;
  readonly tools: (chatId: string) => ToolSet;
  /** The tools that need the user's approval. */
  readonly toolApproval?: Readonly<Record<string, "user-approval">>;
}

/** A served page. */
export interface ChatServer {
  readonly url: string;
  close(): Promise<void>;
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Chat</title>
<div id="chat"></div><script type="module" src="/page.js"></script>`;

/** Serves the page, and the chat that it asks for. */
export async function serveChat({
  model,
  tools,
  toolApproval = {},
}: ChatOptions): Promise<ChatServer> {
  const script = await bundle();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/api/chat") return chat(request, response);
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : PAGE);
  }

  // #region chat
  async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, messages } = (await readJson(request)) as { id: string; messages: UIMessage[] };
    const stopped = new AbortController();
    response.once("close", () => stopped.abort());
    const given = tools(id);
    const { stream } = streamText({
      model,
      messages: await convertToModelMessages(messages, { tools: given }),
      tools: given,
      toolApproval,
      stopWhen: isStepCount(5),
      abortSignal: stopped.signal,
    });
    const shown = toUIMessageStream({ stream, tools: given, originalMessages: messages });
    await pipeUIMessageStreamToResponse({ response, stream: shown });
  }
  // #endregion

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece as string;
  return JSON.parse(text);
}

/** The page and everything that it imports, as one script. */
async function bundle(): Promise<string> {
  const page = await rolldown({
    input: fileURLToPath(new URL("page.tsx", import.meta.url)),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    logLevel: "silent",
  });
  const { output } = await page.generate({ format: "esm" });
  await page.close();
  return output[0].code;
}
