/// <reference types="node" />
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAgent, loadKey } from "@waybill/agent";
import { HUB_LIMITS, openHub } from "@waybill/hub";
import type { HubLimits, HubLogEvent, HubServer } from "@waybill/hub";
import { peerWith } from "@waybill/peering";
import type { PeerOptions } from "@waybill/peering";
import { checkSocketPath, removeStaleSocket, serveHub } from "@waybill/server";
import type { ServedHub, ServeOptions } from "@waybill/server";
import { WaybillError } from "@waybill/protocol";
import { NEWCOMERS } from "@waybill/protocol/wire";
import type { Newcomers } from "@waybill/protocol/wire";
import { openSqliteStore } from "@waybill/store-sqlite";
import { makeFolder } from "../files/folder.ts";
import type { SettingValues } from "../settings/table.ts";
import { closeToOthers, DATA_FILES, operatorTokenIn, writeOwn } from "./data-folder.ts";

export interface StartOptions {
  readonly log: (event: HubLogEvent) => void;
  readonly logger?: ServeOptions["logger"];
  /** Called for each file that others could read or write until now. */
  readonly warn: (path: string) => void;
  /** Called if the hub can have no Unix socket here. */
  readonly withoutSocket: (why: WaybillError) => void;
}

/** A running hub, with its addresses and paths. */
export interface RunningHub {
  readonly hubId: string;
  /** The custody domain: what others pin. */
  readonly domain: string;
  readonly url: string;
  /** Its address on the Unix socket, if it has one. */
  readonly unixUrl: string | undefined;
  readonly operatorToken: string;
  readonly database: string;
  readonly hubKey: string;
  readonly tokenFile: string;
  /** A link that signs in to the console, once. */
  consoleLink(): string;
  /** Lets requests in progress finish, and closes the database. */
  close(): Promise<void>;
}

/** Opens the database, the hub over it, and its listeners; closes all of them if one fails. */
export async function startHub(
  values: SettingValues,
  { log, logger, warn, withoutSocket }: StartOptions,
): Promise<RunningHub> {
  const { data, database, hub_id: id } = values;
  makeFolder(data);
  makeFolder(dirname(database));
  for (const path of closeToOthers(data, database)) warn(path);
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).toReversed()) await step();
  };
  try {
    const hubKey = join(data, DATA_FILES.hubKey);
    const isNew = !existsSync(database);
    if (!isNew && !existsSync(hubKey)) throw withoutKey(database, hubKey);
    const store = await openSqliteStore(database);
    closing.push(() => store.close());
    const { operators, allowed } = values;
    const key = await loadKey(hubKey);
    const limits = blobLimits(values);
    const hub = await openHub({ store, key, id, operators, allowed, limits, log });
    closing.push(() => hub.close());
    await enrolOperator(hub, data, operators);
    const operatorToken = operatorTokenIn(data, hub.domain);
    const socketPath = socketPathOf(values, withoutSocket);
    // Agents would look for the hub at the socket that it had when it was killed.
    if (socketPath === undefined && hasSockets) {
      await removeStaleSocket(join(data, DATA_FILES.socket));
    }
    const served = await serve(
      { ...serveOptionsOf(values), socketPath, operatorToken, hub, store, logger },
      values,
    );
    closing.push(() => served.close());
    for (const address of values.peer) {
      const peer = peerWith({ hub, ...(await peerAt(address, data)), failed: failedPeer(logger) });
      closing.push(() => peer.close());
    }
    const { url, unixUrl } = served;
    const tokenFile = join(data, DATA_FILES.operatorToken);
    const here = addressHere(served, values);
    const urlFile = writeOwn(data, DATA_FILES.url, here);
    closing.push(async () => removeUrlFile(urlFile, here));
    const { id: hubId, domain } = hub;
    const consoleLink = () => served.consoleLink();
    const files = { database, hubKey, tokenFile };
    return { hubId, domain, url, unixUrl, operatorToken, ...files, consoleLink, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const hasSockets = process.platform !== "win32";

function socketPathOf(
  { data, no_socket: isOff }: SettingValues,
  withoutSocket: StartOptions["withoutSocket"],
): string | undefined {
  if (isOff || !hasSockets) return undefined;
  const path = join(data, DATA_FILES.socket);
  try {
    checkSocketPath(path);
    return path;
  } catch (error) {
    withoutSocket(WaybillError.from(error));
    return undefined;
  }
}

/**
 * An address may end with `#` and a custody domain or the thumbprint of a key, which pins the hub
 * there.
 */
async function peerAt(
  address: string,
  data: string,
): Promise<Pick<PeerOptions, "url" | "hubKey" | "key">> {
  const [url = "", hubKey] = address.split("#");
  const name = createHash("sha256").update(url).digest("hex").slice(0, PEER_KEY_HEX);
  return { url, hubKey, key: await loadKey(join(data, `peer-${name}.key`)) };
}

function failedPeer(logger: ServeOptions["logger"]): (error: unknown) => void {
  return (error) => {
    const { status, code, message } = WaybillError.from(error);
    logger?.warn({ status, code, message }, "peer");
  };
}

const PEER_KEY_HEX = 16;

/** The blob quota of an agent, as a multiple of the largest blob. */
const LARGEST_PER_AGENT = 4;

function blobLimits({ max_blob, blob_space, keep_blobs }: SettingValues): Partial<HubLimits> {
  const { blobBytesPerAgent, blobBytesPerHub } = HUB_LIMITS;
  const perAgent = Math.max(blobBytesPerAgent, LARGEST_PER_AGENT * (max_blob ?? 0));
  return {
    ...(max_blob === undefined ? {} : { blobBytes: max_blob }),
    blobBytesPerAgent: perAgent,
    blobBytesPerHub: blob_space ?? Math.max(blobBytesPerHub, perAgent),
    ...(keep_blobs === undefined ? {} : { blobKeptMs: keep_blobs }),
  };
}

/** Reserves the name before anybody else can take it: its holder may replay handoffs of others. */
async function enrolOperator(
  hub: HubServer,
  data: string,
  operators: readonly string[],
): Promise<void> {
  const [id] = operators.filter((each) => each === "operator");
  if (id === undefined) return;
  const key = await loadKey(join(data, DATA_FILES.operatorKey));
  const agent = createAgent({ id, key, hub });
  try {
    await agent.start();
  } catch (error) {
    if (!WaybillError.is(error, 401) && !WaybillError.is(error, 409)) throw error;
    throw new WaybillError(
      error.status,
      `The hub knows the agent ${id} by another key than the one in ${join(data, DATA_FILES.operatorKey)}. Restore that file from a copy, or name another agent with --operators. ${error.message}`,
      { cause: error },
    );
  }
  await agent.stop();
}

function serveOptionsOf(values: SettingValues): Omit<ServeOptions, "hub" | "store"> {
  const { host, port, public_url: publicUrl, behind_proxy: isBehindProxy } = values;
  const { tls_cert: cert, tls_key: key } = values;
  if ((cert === undefined) !== (key === undefined)) {
    throw new WaybillError(400, "TLS needs both --tls-cert and --tls-key; give both, or neither.");
  }
  return {
    host,
    port,
    publicUrl,
    isBehindProxy,
    allowedHosts: values.allowed_hosts,
    allowedOrigins: values.allowed_origins,
    isOpenRegistry: values.open_registry,
    newcomers: newcomersOf(values),
    innerInboxes: values.inner_inboxes,
    metricsToken: values.metrics_token,
    tls: cert === undefined ? undefined : { cert: pem(cert), key: pem(key!) },
  };
}

function newcomersOf({ newcomers }: SettingValues): Newcomers | undefined {
  const known = NEWCOMERS.find((each) => each === newcomers);
  if (known !== undefined || newcomers === undefined) return known;
  throw new WaybillError(
    400,
    `newcomers must be one of ${NEWCOMERS.join(", ")}, but it is ${JSON.stringify(newcomers)}. Correct it.`,
  );
}

function pem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new WaybillError(
      400,
      `The PEM file ${path} can't be read: ${(cause as Error).message}. Check the path and its permissions.`,
      { cause },
    );
  }
}

async function serve(options: ServeOptions, values: SettingValues): Promise<ServedHub> {
  const { host, port } = values;
  try {
    return await serveHub(options);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (/^ERR_(OSSL|SSL|TLS|CRYPTO)/.test(code)) throw badPem(values, error);
    const why = LISTENING[code];
    if (why === undefined) throw error;
    throw new WaybillError(503, `The hub can't listen on ${host}, port ${port}: ${why}`, {
      cause: error,
    });
  }
}

function badPem({ tls_cert: cert, tls_key: key }: SettingValues, cause: unknown): WaybillError {
  return new WaybillError(
    400,
    `TLS can't use the certificate ${cert} with the key ${key}: ${(cause as Error).message}. Both must be PEM, the certificate with its chain, and belong to each other.`,
    { cause },
  );
}

const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "another program already listens there. Stop it, or choose another port with --port (0 picks a free one).",
  EACCES: "this user is not allowed to. Choose a port above 1023 with --port.",
  EADDRNOTAVAIL: "this machine has no such address. Check --host.",
  ENOTFOUND: "this host name has no address. Check --host.",
};

function withoutKey(database: string, hubKey: string): WaybillError {
  return new WaybillError(
    404,
    `The database ${database} exists, but the key of its hub, ${hubKey}, does not. Without it the hub can't sign as before. Restore the key from a copy, or start over with another --database.`,
  );
}

/** The address for commands on this machine. It avoids the proxy. A certificate is for the public name. */
function addressHere(
  { url, port }: ServedHub,
  { host, public_url, tls_cert }: SettingValues,
): string {
  if (public_url === undefined || tls_cert !== undefined) return url;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Removes the file only if it holds this hub's address: a later hub may have written its own. */
function removeUrlFile(urlFile: string, url: string): void {
  try {
    if (readFileSync(urlFile, "utf8").trim() === url) rmSync(urlFile);
  } catch {
    // It has been removed already.
  }
}
