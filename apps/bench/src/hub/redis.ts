/// <reference types="node" />
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Our own Redis, which syncs its log to disk before it answers, as our hub does. */
export async function startRedis(folder: string): Promise<RedisServer> {
  await install();
  const port = await freePort();
  const server = spawn(
    "redis-server",
    ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", ""].concat(
      ["--appendonly", "yes", "--appendfsync", "always"],
      ["--maxmemory-policy", "noeviction"],
    ),
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let said = "";
  for await (const part of server.stdout as AsyncIterable<Buffer>) {
    said += part.toString();
    if (said.includes("Ready to accept connections")) break;
  }
  if (server.exitCode !== null) throw new Error(`redis-server did not start: ${said}`);
  server.stdout.resume();
  return {
    port,
    async stop() {
      const exited = once(server, "exit");
      server.kill();
      await exited;
    },
  };
}

/** Installs Redis from Debian, if it is missing and may be installed. */
async function install(): Promise<void> {
  if (await hasRedis()) return;
  if (process.getuid?.() !== 0) {
    throw new Error("This group needs redis-server: install it, or run the bench as root.");
  }
  await run("apt-get", ["update"]);
  await run("apt-get", ["install", "-y", "--no-install-recommends", "redis-server"]);
}

export async function hasRedis(): Promise<boolean> {
  try {
    await run("redis-server", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
