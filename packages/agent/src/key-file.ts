/// <reference types="node" />
import { generateKey, privateKeyFrom, WaybillError } from "@waybill/protocol";
import type { PrivateJwk, PrivateKey } from "@waybill/protocol";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * The agent's key from a file; the first time, a new one is made there for the owner alone. Refuses
 * a file that others may read: whoever has the key is the agent.
 *
 * @example
 * ```ts
 * const agent = createAgent({ id: "editor", key: await loadKey("editor.key"), hub });
 * ```
 */
export async function loadKey(path: string): Promise<PrivateKey> {
  // Loaded here, so that the rest of the package runs where there are no files.
  const { open, link, unlink } = await import("node:fs/promises");
  try {
    return await readKey(path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT") throw error;
  }
  const key = generateKey();
  const draft = `${path}.${key.kid}`;
  try {
    const file = await open(draft, "wx", OWNER_ONLY);
    try {
      await file.writeFile(`${JSON.stringify(key.privateJwk())}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // Fails where another process was first: then that one's key counts, and nobody reads half of one.
    await link(draft, path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw unwritable(path, error);
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  return readKey(path);

  async function readKey(from: string): Promise<PrivateKey> {
    const file = await open(from, "r");
    try {
      const { mode } = await file.stat();
      const isPosix = process.platform !== "win32";
      if (isPosix && (mode & OTHERS) !== 0) {
        throw new WaybillError(
          401,
          `The key file ${from} may be read by others (mode ${(mode & 0o777).toString(8)}): whoever reads it can sign as this agent. Run: chmod 600 ${from}, and replace the key if others had access.`,
        );
      }
      return privateKeyFrom(parsed(from, await file.readFile("utf8")));
    } finally {
      await file.close();
    }
  }
}

function parsed(path: string, text: string): PrivateJwk {
  try {
    return JSON.parse(text) as PrivateJwk;
  } catch (cause) {
    // Without what was found: it may be the secret.
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
    `The key file ${path} could not be made: ${WaybillError.from(cause).message}. Check that its folder exists and can be written to.`,
    { cause },
  );
}
