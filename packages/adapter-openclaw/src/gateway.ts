/// <reference types="node" />
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { WaybillError } from "@waybill/protocol";
import { loadDevice, saveDevice, signedDevice } from "./device.ts";
import type { Challenge, Device } from "./device.ts";
import { frameOf } from "./frame.ts";
import type { FrameError, Hello } from "./frame.ts";

/** Where the gateway is, and who connects to it. */
export interface GatewayOptions {
  /** Such as `ws://127.0.0.1:18789`. */
  readonly url: string;
  /** The gateway's token, `gateway.auth.token` in its configuration. */
  readonly token?: string | undefined;
  /**
   * A file with the identity of this device and the token that the gateway has issued to it; created if
   * there is none. A gateway on another machine asks its operator to approve the device once.
   */
  readonly device?: string | undefined;
  /**
   * Asks the delegator before the agent runs a command that needs an approval. The gateway shows these
   * requests only to administrators, so the connection asks for the scope `operator.admin`. By default
   * the gateway denies such commands.
   */
  readonly approvals?: boolean | undefined;
  readonly log?: ((event: GatewayEvent) => void) | undefined;
}

/** What happens to the connection. */
export type GatewayEvent =
  | { readonly type: "connected"; readonly version: string | undefined; readonly boot: string }
  | { readonly type: "disconnected"; readonly reason: string };

/** An event that the gateway sends to its clients. */
export type Heard = (event: string, payload: unknown) => void;

/** A connection to an OpenClaw gateway, which is made again whenever it is lost. */
export interface Gateway {
  /** Names the process of the gateway: what an earlier one was doing, this one has forgotten. */
  readonly boot: string;
  /** Calls a method once the gateway is there. Rejects with `GatewayLost` if it is gone before it answers. */
  request<Result>(method: string, params: object, signal?: AbortSignal): Promise<Result>;
  /** Listens to events until the returned function is called. */
  listen(heard: Heard): () => void;
  close(): Promise<void>;
}

/** The connection broke while a request was under way: whether it was carried out is unknown. */
export class GatewayLost extends Error {
  override readonly name: string = "GatewayLost";
}

/** The gateway refused a request. */
export class GatewayRefusal extends Error {
  override readonly name: string = "GatewayRefusal";
  readonly code: string | undefined;

  constructor(method: string, { code, message }: FrameError) {
    super(`The gateway refused ${method}: ${message ?? code ?? "it does not say why"}`);
    this.code = code;
  }
}

const CLIENT = { id: "gateway-client", mode: "backend", platform: "linux" } as const;
const ROLE = "operator";
const SCOPES: readonly string[] = [
  "operator.read",
  "operator.write",
  "operator.approvals",
  "operator.questions",
];

/** What a connection may do, and what it takes, with and without approvals. */
const RIGHTS = {
  plain: { scopes: SCOPES, caps: ["tool-events"] },
  approving: { scopes: [...SCOPES, "operator.admin"], caps: ["tool-events", "exec-approvals"] },
} as const;

type Rights = (typeof RIGHTS)[keyof typeof RIGHTS];

const CONNECT_WITHIN_MS = 10_000;
const LONGEST_PAUSE_MS = 2_000;
/** Without any frame for this many of the gateway's ticks, the connection counts as dead. */
const SILENT_TICKS = 2;

/**
 * Connects to a gateway. Rejects if the gateway can't be reached, or refuses the token.
 *
 * @example
 * ```ts
 * const gateway = await openGateway({ url: "ws://127.0.0.1:18789", token });
 * agent.serve(...serveAgent(gateway, { name: "research" }));
 * ```
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { device: path } = options;
  const connection = new Connection(
    options,
    path === undefined ? undefined : await loadDevice(path),
  );
  await connection.open();
  return connection;
}

class Connection implements Gateway {
  readonly #options: GatewayOptions;
  #device: Device | undefined;
  readonly #listeners = new Set<Heard>();
  #line: Line | undefined;
  #boot = "";
  #connected = Promise.withResolvers<Line>();
  #isClosed = false;

  constructor(options: GatewayOptions, device: Device | undefined) {
    this.#options = options;
    this.#device = device;
    this.#connected.promise.catch(() => undefined);
  }

  get boot(): string {
    return this.#boot;
  }

  async open(): Promise<void> {
    const { url, token, log, device: path, approvals = false } = this.#options;
    const rights = approvals ? RIGHTS.approving : RIGHTS.plain;
    const line = new Line(url, (event, payload) => {
      for (const heard of this.#listeners) heard(event, payload);
    });
    const hello = await line.greet(token ?? this.#device?.token, this.#device, rights);
    if (this.#isClosed) return line.close();
    const { version, bootId, connId } = hello.server;
    // Older gateways do not name their processes: then every connection may be to another one.
    this.#boot = bootId ?? connId ?? randomUUID();
    const issued = hello.auth?.deviceToken;
    if (path !== undefined && this.#device !== undefined && issued !== undefined) {
      this.#device = { ...this.#device, token: issued };
      await saveDevice(path, this.#device);
    }
    this.#line = line;
    this.#connected.resolve(line);
    log?.({ type: "connected", version, boot: this.#boot });
    void line.ended.then((reason) => this.#lost(reason));
  }

  #lost(reason: string): void {
    this.#line = undefined;
    if (this.#isClosed) return;
    this.#options.log?.({ type: "disconnected", reason });
    this.#connected = Promise.withResolvers();
    this.#connected.promise.catch(() => undefined);
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    for (let pauseMs = 100; !this.#isClosed; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await this.open();
      } catch {
        // A gateway takes its time to start.
        await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false });
      }
    }
  }

  async request<Result>(method: string, params: object, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const line = this.#line ?? (await orAborted(this.#connected.promise, signal));
    return orAborted(line.request<Result>(method, params), signal);
  }

  listen(heard: Heard): () => void {
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#connected.reject(new GatewayLost("The connection to the gateway was closed."));
    this.#line?.close();
    await this.#line?.ended;
  }
}

/** One connection, from its opening to its end. */
class Line {
  readonly #socket: WebSocket;
  readonly #hear: Heard;
  readonly #waiting = new Map<
    string,
    PromiseWithResolvers<unknown> & { readonly method: string }
  >();
  readonly #challenge = Promise.withResolvers<Challenge>();
  readonly #ended = Promise.withResolvers<string>();
  #silence: NodeJS.Timeout | undefined;
  #silentMs = CONNECT_WITHIN_MS;
  #requests = 0;

  constructor(url: string, hear: Heard) {
    this.#hear = hear;
    this.#challenge.promise.catch(() => undefined);
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => this.#take(data);
    this.#socket.onerror = () => this.#end(`no connection to ${url}`);
    this.#socket.onclose = ({ code, reason }) => this.#end(reason === "" ? `code ${code}` : reason);
    this.#listenOn();
  }

  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  close(): void {
    this.#socket.close();
    this.#end("closed here");
  }

  async greet(
    token: string | undefined,
    device: Device | undefined,
    { scopes, caps }: Rights,
  ): Promise<Hello> {
    const challenge = await this.#challenge.promise;
    const auth = token === undefined ? undefined : { token };
    const signed = { ...CLIENT, role: ROLE, scopes, token };
    try {
      const hello = await this.request<Hello>("connect", {
        minProtocol: 4,
        maxProtocol: 4,
        client: { ...CLIENT, version: "1", displayName: "Waybill" },
        role: ROLE,
        scopes,
        caps,
        auth,
        device: device && signedDevice(device, signed, challenge),
      });
      this.#silentMs = SILENT_TICKS * (hello.policy?.tickIntervalMs ?? CONNECT_WITHIN_MS);
      this.#listenOn();
      return hello;
    } catch (cause) {
      this.close();
      throw cause instanceof GatewayRefusal
        ? new WaybillError(
            401,
            `${cause.message}. Check the token, or approve this device there.`,
            { cause },
          )
        : cause;
    }
  }

  request<Result>(method: string, params: object): Promise<Result> {
    const id = `${++this.#requests}`;
    const waiting = { ...Promise.withResolvers<unknown>(), method };
    this.#waiting.set(id, waiting);
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    return waiting.promise as Promise<Result>;
  }

  #take(data: unknown): void {
    this.#listenOn();
    const frame = frameOf(data);
    if (frame === undefined) return;
    if (frame.type === "event") {
      if (frame.event === "connect.challenge") this.#challenge.resolve(frame.payload as Challenge);
      else this.#hear(frame.event, frame.payload);
      return;
    }
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    if (frame.ok) waiting?.resolve(frame.payload);
    else waiting?.reject(new GatewayRefusal(waiting.method, frame.error));
  }

  #listenOn(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.close(), this.#silentMs).unref();
  }

  #end(reason: string): void {
    clearTimeout(this.#silence);
    const lost = new GatewayLost(`The gateway is gone: ${reason}.`);
    this.#challenge.reject(lost);
    for (const { reject } of this.#waiting.values()) reject(lost);
    this.#waiting.clear();
    this.#ended.resolve(reason);
  }
}

/** Settles with the promise, or rejects as soon as the signal fires. */
function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const fired = () => reject(signal.reason);
  signal.addEventListener("abort", fired, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", fired));
}
