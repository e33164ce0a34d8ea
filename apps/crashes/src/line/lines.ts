/// <reference types="node" />
import type { Socket } from "node:net";

/** Newline-delimited JSON in both directions. What can no longer be written is lost with the line. */
export function onValue(socket: Socket, take: (value: unknown) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(JSON.parse(line));
  });
}

export function writeValue(socket: Socket, value: unknown): void {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`);
}
