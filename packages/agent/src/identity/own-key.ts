/// <reference types="node" />
import { generateKey, WaybillError } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { files, syncFolder } from "./files.ts";
import type { Files } from "./files.ts";
import { codeOf, keyAt, linked } from "./key-file.ts";

/** The folder for keys, instead of that of the application. */
const SETTING = "WAYBILL_KEYS";

const FOLDER_MODE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

const inMemory = new WeakMap<object, Map<string, PrivateKey>>();

/**
 * The key of an agent that was given none: the application keeps it for this agent at this hub, and
 * creates it the first time. With a hub that keeps nothing beyond its process it is not stored.
 */
export class OwnKey {
  readonly #hub: Hub;
  readonly #id: string;
  #key: PrivateKey | undefined;
  /** The file of the key, if it is one that the application keeps. */
  path: string | undefined;

  constructor(hub: Hub, id: string, given: PrivateKey | undefined) {
    this.#hub = hub;
    this.#id = id;
    this.#key = given;
  }

  /** Available after loading, which precedes every signature. */
  get current(): PrivateKey {
    if (this.#key === undefined) {
      throw new WaybillError(403, `${this.#id} has no key yet: start it before it signs anything.`);
    }
    return this.#key;
  }

  async load(): Promise<PrivateKey> {
    this.#key ??= this.#hub.isVolatile === true ? this.#passing() : await this.#kept();
    return this.#key;
  }

  /** Adds the key's origin to the hub's error that the key is not this agent's. */
  explain(error: unknown): unknown {
    if (this.path === undefined || !WaybillError.is(error, 401)) return error;
    return new WaybillError(
      401,
      `${error.message} The key in use is the one in ${this.path}: if the agent had another key before, restore that one.`,
      { cause: error, at: error.at },
    );
  }

  /** An agent that is created again in the same process is the same agent. */
  #passing(): PrivateKey {
    const keys = inMemory.get(this.#hub) ?? new Map<string, PrivateKey>();
    inMemory.set(this.#hub, keys);
    const key = keys.get(this.#id) ?? generateKey();
    keys.set(this.#id, key);
    return key;
  }

  async #kept(): Promise<PrivateKey> {
    const found = files();
    if (found === undefined) {
      throw new WaybillError(
        400,
        `${this.#id} has no key, and this runtime has no file system to store one: pass the key from your platform's secret store to createAgent: createAgent({ id, hub, key: privateKeyFrom(…) }).`,
      );
    }
    const keys = keysFolder(found);
    const ofHub = found.path.join(keys.folder, this.#hub.domain);
    const own = [...keys.own, ofHub];
    this.path = found.path.join(ofHub, `${this.#id}.key`);
    try {
      await checkFolders(own, found);
      return await keyAt(this.path, {
        isNoLink: true,
        prepare: () => makeFolders(keys.folder, own, found),
      });
    } catch (cause) {
      if (WaybillError.is(cause)) throw cause;
      throw new WaybillError(
        500,
        `The key of ${this.#id} could not be stored in ${keys.folder}: ${WaybillError.from(cause).message}. Name a writable folder that persists until the next start in ${SETTING}, or pass a key to createAgent.`,
        { cause },
      );
    }
  }
}

/** The folder for keys, and which folders on the way to it are created and checked as our own. */
function keysFolder({ fs, path }: Files): {
  readonly folder: string;
  readonly own: readonly string[];
} {
  const chosen = process.env[SETTING];
  // A folder from the environment may be a link: secrets are often mounted so.
  if (chosen !== undefined && chosen !== "") return { folder: path.resolve(chosen), own: [] };
  const ours = path.join(applicationFolder({ fs, path }), ".waybill");
  const folder = path.join(ours, "keys");
  return { folder, own: [ours, folder] };
}

/**
 * The folder of the application, independent of the working directory: the nearest folder above the
 * running script with a package.json that has a name. A package.json without a name is usually made by
 * a build in a folder that the next build empties; it counts only if there is no other.
 */
function applicationFolder({ fs, path }: Files): string {
  const start = startFolder({ fs, path });
  let unnamed: string | undefined;
  for (let folder = start; ; folder = path.dirname(folder)) {
    const name = packageName(path.join(folder, "package.json"), fs);
    if (name !== undefined && name !== "") return folder;
    if (name === "") unnamed ??= folder;
    if (path.dirname(folder) === folder) return unnamed ?? start;
  }
}

/**
 * A tool that runs scripts, such as a test runner, is not the application: then the working directory
 * is searched.
 */
function startFolder({ fs, path }: Files): string {
  const script = process.argv[1];
  if (script === undefined) return process.cwd();
  try {
    const folder = path.dirname(fs.realpathSync(script));
    return folder.split(path.sep).includes("node_modules") ? process.cwd() : folder;
  } catch {
    return process.cwd();
  }
}

/** Empty for a package.json without a name; undefined without a package.json. */
function packageName(file: string, fs: Files["fs"]): string | undefined {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  try {
    const { name } = JSON.parse(text) as { name?: unknown };
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
}

/** Throws if an existing folder is a link, or if others could place a key in it. */
async function checkFolders(
  folders: readonly string[],
  { fs: { promises } }: Files,
): Promise<void> {
  for (const folder of folders) {
    const stat = await promises.lstat(folder).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    });
    if (stat === undefined) return;
    if (stat.isSymbolicLink()) throw linked(folder);
    if (!stat.isDirectory()) {
      throw new WaybillError(
        400,
        `${folder} is not a folder, so no key can be stored in it. Name another folder.`,
      );
    }
    if (process.platform === "win32") continue;
    const isOurs = stat.uid === process.getuid?.();
    if (isOurs && (stat.mode & WRITABLE_BY_OTHERS) === 0) continue;
    throw new WaybillError(
      401,
      `Others can write to ${folder}${isOurs ? "" : ", which belongs to another user"}, and could put their own key there: no key is stored in it. ${isOurs ? `Run: chmod 700 ${folder}.` : `Name another folder in ${SETTING}.`}`,
    );
  }
}

async function makeFolders(keys: string, own: readonly string[], ours: Files): Promise<void> {
  const { fs, path } = ours;
  const { promises } = fs;
  if (!own.includes(keys)) {
    const first = await promises.mkdir(keys, { recursive: true, mode: FOLDER_MODE });
    if (first !== undefined) await syncUpTo(path.dirname(first), keys, ours);
  }
  for (const folder of own) {
    await promises.mkdir(folder, { mode: FOLDER_MODE }).catch(unlessThere);
    await syncFolder(path.dirname(folder), ours);
  }
  const ignored = path.join(keys, ".gitignore");
  await promises.writeFile(ignored, "*\n", { flag: "wx" }).catch(unlessThere);
  // Another process may have been first.
  await checkFolders(own, ours);
}

/** Syncs every folder above `made`, up to `top`. */
async function syncUpTo(top: string, made: string, ours: Files): Promise<void> {
  for (let folder = made; folder !== top;) {
    folder = ours.path.dirname(folder);
    await syncFolder(folder, ours);
  }
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}
