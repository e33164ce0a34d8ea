/// <reference types="node" />
import { generateKey, privateKeyFrom, WaybillError } from "@waybill/protocol";
import type { PrivateJwk, PrivateKey } from "@waybill/protocol";
import { files, syncFolder } from "./files.ts";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * Loads a key from a file, or creates it, readable by its owner only. `createAgent` does this itself
 * when it is given no key; use this for a key in a place of your own, and for that of a hub. Refuses a
 * file that others can read: whoever has the key is the agent.
 *
 * @example
 * ```ts
 * const agent = createAgent({ id: "editor", key: await loadKey("/run/secrets/editor.key"), hub });
 * ```
 */
export function loadKey(path: string): Promise<PrivateKey> {
  return keyAt(path);
}

/** How a key file is read. */
export interface KeyFileOptions {
  /** Whether a symbolic link is refused: at a default path it may be planted by somebody else. */
  readonly isNoLink?: boolean;
  /** Called before a new key is written. */
  readonly prepare?: () => Promise<void>;
}

export async function keyAt(
  path: string,
  { isNoLink = false, prepare }: KeyFileOptions = {},
): Promise<PrivateKey> {
  const found = files();
  if (found === undefined) {
    throw new WaybillError(
      400,
      `The key file ${path} can't be read, because this runtime has no file system: read the key from your platform's secret store, and pass it to privateKeyFrom.`,
    );
  }
  const { constants, promises } = found.fs;
  try {
    return await readKey();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  await prepare?.();
  const key = generateKey();
  const draft = `${path}.${key.kid}`;
  try {
    const file = await promises.open(draft, "wx", OWNER_ONLY);
    try {
      // The umask may have changed the mode.
      await file.chmod(OWNER_ONLY);
      await file.writeFile(`${JSON.stringify(key.privateJwk())}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // Fails if another process was first: then its key is used, and no half-written key is ever read.
    await promises.link(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw unwritable(path, error);
  } finally {
    await promises.unlink(draft).catch(() => undefined);
  }
  try {
    await syncFolder(found.path.dirname(path), found);
  } catch (error) {
    throw unwritable(path, error);
  }
  return readKey();

  async function readKey(): Promise<PrivateKey> {
    // Windows has no such flag, and no links that unprivileged users could make.
    const noFollow = isNoLink ? (constants.O_NOFOLLOW ?? 0) : 0;
    const file = await promises
      .open(path, constants.O_RDONLY | noFollow)
      .catch((error: unknown) => {
        throw codeOf(error) === "ELOOP" ? linked(path) : error;
      });
    try {
      const { mode } = await file.stat();
      const isPosix = process.platform !== "win32";
      if (isPosix && (mode & OTHERS) !== 0) {
        throw new WaybillError(
          401,
          `The key file ${path} can be read by others (mode ${(mode & 0o777).toString(8)}): whoever reads it can sign as this agent. Run: chmod 600 ${path}, and replace the key if others had access.`,
        );
      }
      return privateKeyFrom(parsed(path, await file.readFile("utf8")));
    } finally {
      await file.close();
    }
  }
}

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** A link where the application's own file or folder is expected. */
export function linked(path: string): WaybillError {
  return new WaybillError(
    401,
    `${path} is a symbolic link, so it may lead to a place that somebody else can read or change: no key is stored there. Remove it, or name another folder in WAYBILL_KEYS.`,
  );
}

function parsed(path: string, text: string): PrivateJwk {
  try {
    return JSON.parse(text) as PrivateJwk;
  } catch (cause) {
    // The message does not contain what was found: it may be the secret.
    throw new WaybillError(
      400,
      `The key file ${path} is not JSON. Restore it from a copy, or delete it to make a new key.`,
      { cause: (cause as Error).name },
    );
  }
}

function unwritable(path: string, cause: unknown): WaybillError {
  return new WaybillError(
    500,
    `The key file ${path} could not be created: ${WaybillError.from(cause).message}. Check that its folder exists and is writable.`,
    { cause },
  );
}
