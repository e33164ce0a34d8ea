/// <reference types="node" />
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { onValue, writeValue } from "./lines.ts";
import { packError } from "./message.ts";
import type { Message } from "./message.ts";

/** The handlers of the far end of one line. */
export interface Answering {
  answer(call: string, args: readonly unknown[]): Promise<unknown>;
  heard(news: unknown): void;
  /** The line was cut. */
  gone(): void;
}

export async function answerCalls(
  path: string,
  accept: (tell: (news: unknown) => void) => Answering,
): Promise<Server> {
  // A killed process has left its socket there.
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    const answering = accept((news) => writeValue(socket, { news }));
    onValue(socket, (value) => {
      const message = value as Message;
      if ("news" in message) answering.heard(message.news);
      else if ("call" in message) {
        const { number } = message;
        answering.answer(message.call, message.args).then(
          (result) => writeValue(socket, { number, value: result }),
          (error: unknown) => writeValue(socket, { number, error: packError(error) }),
        );
      }
    });
    socket.on("error", () => undefined);
    socket.once("close", () => answering.gone());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return server;
}
