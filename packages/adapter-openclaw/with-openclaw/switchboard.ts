/// <reference types="node" />
import { createServer, request as ask } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * An address for the gateway, which connects the model and the tools of each session to the process that
 * has them.
 */
export interface Switchboard {
  readonly url: string;
  close(): Promise<void>;
}

/** Where a session's model and its tools are. */
export interface SessionLine {
  readonly model: string;
  readonly tools: string;
}

/**
 * `POST /sessions/<key>` connects a session, and `POST /tools/<key>` uses a tool in it. Everything else
 * is a request to a model.
 */
export async function startSwitchboard(): Promise<Switchboard> {
  const lines = new Map<string, SessionLine>();
  const server = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      const [, place, name = ""] = incoming.url!.split("/");
      const session = decodeURIComponent(name);
      if (place === "sessions") {
        lines.set(session, JSON.parse(body) as SessionLine);
        return response.end();
      }
      const to =
        place === "tools"
          ? lines.get(session)?.tools
          : modelAt(lines.get(sessionIn(body) ?? "")?.model, incoming);
      return connect(to, incoming, body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The session of a request to a model: OpenClaw tells its models where they are. */
export function sessionIn(body: string): string | undefined {
  return /session=(agent:[\w:.-]+)/.exec(body)?.[1];
}

function modelAt(model: string | undefined, { url }: IncomingMessage): string | undefined {
  return model === undefined ? undefined : `${model}${url!.replace("/v1", "")}`;
}

function connect(
  to: string | undefined,
  { headers, method }: IncomingMessage,
  body: string,
  response: ServerResponse,
): void {
  if (to === undefined) {
    response
      .writeHead(400)
      .end(JSON.stringify({ error: { message: "Nobody plays this session." } }));
    return;
  }
  const onward = ask(to, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body);
}

/** The whole body of a request. */
export async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const piece of incoming) text += piece as string;
  return text;
}
