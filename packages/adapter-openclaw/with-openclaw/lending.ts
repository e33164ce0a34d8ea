/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { ToolResult } from "../src/plugin/plugin-api.ts";
import { TOOL_NAMES, toolFor } from "../src/plugin/tools.ts";
import type { Desk } from "../src/plugin/tools.ts";
import { bodyOf } from "./switchboard.ts";

/** The plugin that gives the gateway's agents the tools of this process. */
export const LENT_TOOLS: string = fileURLToPath(new URL("lent-tools", import.meta.url));

/** A use of a tool by an agent of the gateway. */
interface LentCall {
  readonly sessionKey: string;
  readonly name: (typeof TOOL_NAMES)[number];
  readonly toolCallId: string;
  readonly given: unknown;
}

/** What the gateway's models are told of the tools. */
export function toolCards(): object[] {
  const nobody = () => Promise.reject(new Error("This is a card."));
  return TOOL_NAMES.map((each) => {
    const { name, label, description, parameters } = toolFor(each, {}, nobody);
    return { name, label, description, parameters };
  });
}

/** The process of a gateway knows of no run that is served here. */
const outside = AsyncLocalStorage.snapshot();

/** Runs the tools that the gateway's agents use, each with the desk of its session. Gives its address. */
export async function startLending(deskOf: (sessionKey: string) => Desk): Promise<string> {
  const server = createServer((incoming, response) => {
    void outside(() => lend(deskOf, incoming, response));
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function lend(
  deskOf: (sessionKey: string) => Desk,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { sessionKey, name, toolCallId, given } = JSON.parse(await bodyOf(incoming)) as LentCall;
  const stopped = new AbortController();
  response.on("close", () => stopped.abort(new Error("The gateway has stopped the call.")));
  const say = (line: object) => response.write(`${JSON.stringify(line)}\n`);
  const update = (partial: ToolResult) => say({ update: partial });
  const tool = toolFor(name, { sessionKey }, async () => deskOf(sessionKey));
  try {
    say({ result: await tool.execute(toolCallId, given, stopped.signal, update) });
  } catch (error) {
    say({ failure: String(error) });
  }
  response.end();
}
