/// <reference types="node" />
import { createServer, request as ask } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A model's address for the gateway, which connects each session to the process that plays its model. */
export interface Switchboard {
  readonly url: string;
  close(): Promise<void>;
}

/** `POST /sessions/<key>` with an address connects a session; everything else is a request to a model. */
export async function startSwitchboard(): Promise<Switchboard> {
  const lines = new Map<string, string>();
  const server = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      const [, sessions, key] = incoming.url!.split("/");
      if (sessions !== "sessions") return connect(lines, incoming, body, response);
      lines.set(decodeURIComponent(key!), body);
      response.end();
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

function connect(
  lines: ReadonlyMap<string, string>,
  { headers, method, url }: IncomingMessage,
  body: string,
  response: ServerResponse,
): void {
  const to = lines.get(sessionIn(body) ?? "");
  if (to === undefined) {
    response
      .writeHead(400)
      .end(JSON.stringify({ error: { message: "Nobody plays this session." } }));
    return;
  }
  const path = url!.replace("/v1", "");
  const onward = ask(`${to}${path}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body);
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const piece of incoming) text += piece as string;
  return text;
}
