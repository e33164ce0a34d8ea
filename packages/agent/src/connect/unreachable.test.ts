import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connect } from "./connect.ts";

let server: Server | undefined;
afterEach(() => void server?.close());

async function listening(answer: "nothing" | "text" | "cut"): Promise<number> {
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    if (answer === "text") socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    if (answer === "cut") socket.destroy();
    if (answer === "nothing") server!.once("close", () => socket.destroy()).unref();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const port = await listening("nothing");
  server!.close();
  await once(server!, "close");
  return port;
}

test.each([
  ["nothing listens", freePort, "http", "nothing listens there. Start the hub", "ECONNREFUSED"],
  [
    "the server does not speak TLS",
    () => listening("text"),
    "https",
    "does not speak TLS. If the hub",
    "EPROTO",
  ],
  [
    "the connection is cut",
    () => listening("cut"),
    "http",
    "was cut before an answer",
    "ECONNRESET",
  ],
] as const)("if %s, connect says why and what to do, and keeps the cause", async (...given) => {
  const [, open, scheme, says, code] = given;
  const url = `${scheme}://127.0.0.1:${await open()}`;
  const thrown = await connect(url, { timeoutMs: 400 }).catch((error: unknown) => error as Error);
  expect(thrown).toMatchObject({ status: 503, message: expect.stringContaining(says) as string });
  expect((thrown as Error).message).toContain(`No hub answers at ${url}`);
  expect((thrown as Error).cause).toMatchObject({ code: expect.stringContaining(code) as string });
});

test("an unknown host and a refused connection have different messages", async () => {
  const connecting = connect("http://no-such-host.invalid", { timeoutMs: 300 });
  await expect(connecting).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("(DNS)") as string,
    cause: { code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) as string },
  });
});

test("a hub that accepts connections and never answers is reported as such", async () => {
  const url = `http://127.0.0.1:${await listening("nothing")}`;
  const connecting = connect(url, { timeoutMs: 200 });
  await expect(connecting).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("it has not answered in time") as string,
    cause: { name: expect.stringMatching(/AbortError|TimeoutError/) as string },
  });
});
