#!/usr/bin/env node
/// <reference types="node" />
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `waybill needs Node 22.13 or newer, and this is ${process.versions.node}: install a newer one from https://nodejs.org.`,
  );
  process.exit(2);
}

// Set up before anything loads SQLite, for which Node 22 prints an experimental warning at every start.
const emitWarning = process.emitWarning.bind(process);
process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
  if (String(warning).includes("SQLite is an experimental feature")) return;
  // The command prints its own message, with the flags that fix it.
  if ((rest[0] as { code?: unknown } | undefined)?.code === "WAYBILL_OPEN_HUB") return;
  (emitWarning as (...all: unknown[]) => void)(warning, ...rest);
};

const { restartWithFreedBuffers } = await import("./serving/large-buffers.ts");
restartWithFreedBuffers(process.argv.slice(2));

const { main } = await import("./main.ts");
process.exitCode = await main(process.argv.slice(2));
export {};
