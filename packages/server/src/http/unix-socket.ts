/// <reference types="node" />
import { once } from "node:events";
import { chmodSync, linkSync, lstatSync, renameSync, rmSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { connect } from "node:net";
import type { Server } from "node:net";
import { WaybillError } from "@waybill/protocol";

/** The operating system's limit of a path (`sun_path`), without the NUL behind it. */
const PATH_BYTES = process.platform === "linux" ? 107 : 103;
const OWNER_ONLY = 0o600;
const ALL_BUT_OWNER = 0o177;

/**
 * Listens on a Unix socket that only this user can connect to, whatever the umask. The socket that a
 * killed hub has left is replaced; that of a running one is not, and neither is anything else in its
 * place. Closing the server removes it.
 */
export async function listenOnUnixSocket(server: Server, path: string): Promise<void> {
  await removeStaleSocket(path);
  try {
    bind(server, path);
    await once(server, "listening");
    chmodSync(path, OWNER_ONLY);
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw inUse(path);
    throw new WaybillError(
      503,
      `The hub can't listen on the Unix socket ${path}: ${(cause as Error).message}. Choose a folder that this user can write to, on a file system that can hold sockets.`,
      { cause },
    );
  }
}

/** Throws a 400 if this system can't have a Unix socket of that path. */
export function checkSocketPath(path: string): void {
  if (process.platform === "win32") {
    throw new WaybillError(
      400,
      "A hub has no Unix socket on Windows: leave socketPath out, and use its URL.",
      { at: "/socketPath" },
    );
  }
  const bytes = Buffer.byteLength(path);
  if (bytes <= PATH_BYTES && !path.includes("\0")) return;
  throw new WaybillError(
    400,
    `The path of a Unix socket has at most ${PATH_BYTES} bytes on this system, and ${path} has ${bytes}. Choose a folder with a shorter path.`,
    { at: "/socketPath" },
  );
}

/** The call binds at once, so that the umask concerns nothing else. */
function bind(server: Server, path: string): void {
  const listen = () => server.listen({ path, exclusive: true });
  let before: number;
  try {
    before = process.umask(ALL_BUT_OWNER);
  } catch {
    // Worker threads can't set it.
    listen();
    return;
  }
  try {
    listen();
  } finally {
    process.umask(before);
  }
}

/**
 * Removes the Unix socket of a hub that was killed, if there is one. Throws a 503 if a hub answers on
 * it, and a 403 for anything else in its place.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return;
  const what = stats.isSymbolicLink()
    ? "a symbolic link, which is not followed"
    : !stats.isSocket()
      ? "not a socket"
      : stats.uid !== BigInt(process.geteuid!())
        ? "a socket of another user"
        : undefined;
  if (what !== undefined) {
    throw new WaybillError(
      403,
      `${path} is ${what}. The hub would listen there: remove it, or choose another path.`,
    );
  }
  if (await isAnswering(path)) throw inUse(path);
  remove(path, stats);
}

/** Removes this socket, and not the one of a hub that has started in its place meanwhile. */
function remove(path: string, { ino, mtimeNs }: BigIntStats): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    // Another hub that starts has removed it.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const moved = lstatSync(aside, { bigint: true });
  const isStale = moved.ino === ino && moved.mtimeNs === mtimeNs;
  if (!isStale) linkSync(aside, path);
  rmSync(aside);
  if (!isStale) throw inUse(path);
}

async function isAnswering(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // With any other error something listens there, though it takes no connection now.
    return code !== "ECONNREFUSED" && code !== "ENOENT";
  } finally {
    socket.destroy();
  }
}

function inUse(path: string): WaybillError {
  return new WaybillError(
    503,
    `The hub can't listen on the Unix socket ${path}: another hub already listens there. Stop that one, or choose another path.`,
  );
}
