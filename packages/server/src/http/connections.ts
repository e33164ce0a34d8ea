/// <reference types="node" />
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { WaybillError } from "@waybill/protocol";
import type { DoorName, Budgets } from "../budgets.ts";
import { networkOf, UNIX_ADDRESS } from "./address.ts";
import type { Transport } from "./address.ts";
import { readInSlices } from "./slices.ts";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Bytes that the hub holds for it: its body, and its answer. */
  held: number;
}

interface ConnectionOptions extends Pick<Connection, "key" | "transport" | "isProxied" | "socket"> {
  readonly now: number;
}

/**
 * One connection, from its first byte on. A stranger's connection is one on which nobody has
 * authenticated.
 */
export class Connection {
  readonly key: string;
  readonly transport: Transport;
  /** A proxy's: clients share it. A proxy has no use for the Unix socket, which is for one user. */
  readonly isProxied: boolean;
  /** The TCP or Unix socket, or the TLS socket once the handshake is complete. */
  socket: Socket;
  /** The client it is charged to; a proxy's connection has none until its request is read. */
  address: string | undefined;
  /** The agent, or the operator, that has authenticated on it last. */
  owner: string | undefined;
  isUpgraded = false;
  /** Work on it that its other side waits for, besides requests. */
  isBusy = false;
  /** What the hub holds for it until it is closed or has drained. */
  cuttable = 0;
  pending = 0;
  hasAsked = false;
  /** It has exceeded a limit: nothing of it is read or answered any more. */
  isCondemned = false;
  quietSince: number;
  #exchanges: Exchange[] = [];
  #passed = 0;
  #passedAt: number;

  constructor({ key, transport, isProxied, socket, now }: ConnectionOptions) {
    this.key = key;
    this.transport = transport;
    this.isProxied = isProxied;
    this.socket = socket;
    this.quietSince = now;
    this.#passedAt = now;
  }

  get requests(): number {
    return this.#exchanges.length;
  }

  /** Whether the next bytes belong to the body of a request. */
  get isInBody(): boolean {
    return this.#exchanges.at(-1)?.request.complete === false;
  }

  /** Whether it is the other side's turn: to send a request or the rest of a body, or to read. */
  get isWaitingForPeer(): boolean {
    if (this.isCondemned) return true;
    if (this.isBusy) return false;
    return this.#exchanges.every(
      ({ request, response }) => !request.complete || response.writableEnded,
    );
  }

  begin(exchange: Exchange): void {
    this.hasAsked = true;
    this.#exchanges.push(exchange);
  }

  end(exchange: Exchange): void {
    this.#exchanges = this.#exchanges.filter((each) => each !== exchange);
    this.quietSince = performance.now();
  }

  exchangeOf(request: IncomingMessage): Exchange | undefined {
    return this.#exchanges.find((each) => each.request === request);
  }

  /** For how long the other side has read less than the minimum of what waits for it. */
  unreadMs(now: number, leastBytes: number): number {
    const { bytesWritten, writableLength } = this.socket;
    const passed = bytesWritten - writableLength;
    if (writableLength === 0 || passed - this.#passed >= leastBytes) {
      this.#passed = passed;
      this.#passedAt = now;
    }
    return now - this.#passedAt;
  }
}

const SWEEP_MS = 1_000;
const RETRY_AFTER_MS = 1_000;

/**
 * All connections of a server. If there are too many of strangers, the one that has kept the hub
 * waiting longest makes room, so that a new one with a request gets through.
 */
export class Connections {
  readonly #budgets: Budgets;
  readonly #isBehindProxy: boolean;
  readonly #all = new Map<string, Connection>();
  readonly #bySocket = new WeakMap<object, Connection>();
  /** In the order in which they came. */
  readonly #strangers = new Groups();
  readonly #owned = new Groups();
  readonly #ofAddress = new Map<string, number>();
  readonly #heldForStrangers = { cuttable: 0, pending: 0 };
  readonly #heldForKnown = { cuttable: 0, pending: 0 };
  readonly #sweeping: NodeJS.Timeout;
  #unixConnections = 0;

  constructor(budgets: Budgets, isBehindProxy: boolean) {
    this.#budgets = budgets;
    this.#isBehindProxy = isBehindProxy;
    this.#sweeping = setInterval(() => this.#sweep(performance.now()), SWEEP_MS);
    this.#sweeping.unref();
  }

  watch(server: Server, transport: Transport): void {
    server.on("connection", (socket: Socket) => {
      const connection = this.#open(socket, transport);
      if (connection !== undefined && transport !== "tls") readInSlices(socket, connection);
    });
    server.on("secureConnection", (socket: Socket) => {
      const connection = this.#all.get(endsOf(socket));
      if (connection === undefined) return void socket.destroy();
      connection.socket = socket;
      this.#bySocket.set(socket, connection);
      readInSlices(socket, connection);
    });
  }

  of(socket: object): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  get strangers(): number {
    return this.#strangers.size;
  }

  get known(): number {
    return this.#all.size - this.#strangers.size;
  }

  #open(socket: Socket, transport: Transport): Connection | undefined {
    const isUnix = transport === "unix";
    const isProxied = this.#isBehindProxy && !isUnix;
    // The client's end of a Unix socket has no name.
    const key = isUnix ? `${UNIX_ADDRESS} ${++this.#unixConnections}` : endsOf(socket);
    const now = performance.now();
    const connection = new Connection({ key, transport, isProxied, socket, now });
    const { connectionsPerHub } = this.#budgets.limits;
    if (this.#all.size >= connectionsPerHub && !this.#evict("connectionsPerHub")) {
      this.#budgets.hit("connectionsPerHub");
      socket.destroy();
      return undefined;
    }
    this.#all.set(connection.key, connection);
    this.#bySocket.set(socket, connection);
    socket.once("close", () => this.#close(connection));
    if (isProxied) return connection;
    this.countFor(connection, isUnix ? UNIX_ADDRESS : networkOf(socket.remoteAddress ?? ""));
    return connection;
  }

  /** Counts a connection for its address, and closes it if there is no room. */
  countFor(connection: Connection, address: string): void {
    const { strangersPerAddress, strangersPerHub, connectionsPerAddress } = this.#budgets.limits;
    connection.address = address;
    const count = this.#ofAddress.get(address) ?? 0;
    this.#ofAddress.set(address, count + 1);
    const hasRoom =
      this.#makeRoom("connectionsPerAddress", count < connectionsPerAddress, address) &&
      this.#makeRoom(
        "strangersPerAddress",
        this.#strangers.count(address) < strangersPerAddress,
        address,
      ) &&
      this.#makeRoom("strangersPerHub", this.#strangers.size < strangersPerHub);
    if (hasRoom) this.#strangers.add(address, connection);
    else this.cut(connection);
  }

  #makeRoom(budget: DoorName, hasRoom: boolean, address?: string): boolean {
    return hasRoom || this.#evict(budget, address);
  }

  /**
   * Closes the stranger's connection that has waited longest, of this address or of the one with the
   * most.
   */
  #evict(budget: DoorName, address: string = this.#strangers.largest()): boolean {
    this.#budgets.hit(budget);
    const oldest = this.#strangers.first(address, ({ isWaitingForPeer }) => isWaitingForPeer);
    if (oldest === undefined) return false;
    this.cut(oldest);
    return true;
  }

  /** A client has authenticated. An agent has connections of its own that strangers can't take. */
  prove(connection: Connection, owner: string): void {
    if (connection.owner === owner || !this.#all.has(connection.key)) return;
    const { connectionsPerAgent } = this.#budgets.limits;
    if (this.#isShared(connection) && this.#owned.count(owner) >= connectionsPerAgent) {
      this.#budgets.hit("connectionsPerAgent");
      throw new WaybillError(
        301,
        `The caller has ${connectionsPerAgent} requests in progress, which is the limit. Retry once one of them is answered.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#moveTo(connection, owner);
    if (this.#owned.count(owner) <= connectionsPerAgent) return;
    this.#budgets.hit("connectionsPerAgent");
    const others = (each: Connection) => each !== connection && each.isWaitingForPeer;
    this.cut(this.#owned.first(owner, others) ?? connection);
  }

  /** A proof on it was invalid. */
  doubt(connection: Connection): void {
    if (connection.owner === undefined || connection.isUpgraded) return;
    this.#moveTo(connection, undefined);
  }

  /**
   * A proxy multiplexes clients over one connection: it counts as an agent's while a request of it is
   * under way.
   */
  #isShared({ isProxied, isUpgraded }: Connection): boolean {
    return isProxied && !isUpgraded;
  }

  /** What is held for it is counted along. */
  #moveTo(connection: Connection, owner: string | undefined): void {
    const { address, cuttable, pending } = connection;
    this.#leave(connection);
    connection.owner = owner;
    if (owner !== undefined) this.#owned.add(owner, connection);
    else if (address !== undefined) this.#strangers.add(address, connection);
    this.hold(connection, { cuttable, pending });
  }

  #leave(connection: Connection): void {
    this.#release(connection);
    const { owner, address } = connection;
    if (owner !== undefined) this.#owned.delete(owner, connection);
    else if (address !== undefined) this.#strangers.delete(address, connection);
  }

  /**
   * Stops reading a connection, and closes it later: a client that is closed at once would reconnect
   * at once.
   */
  condemn(connection: Connection): void {
    if (connection.isCondemned) return;
    connection.isCondemned = true;
    connection.socket.pause();
    setTimeout(() => this.cut(connection), this.#budgets.limits.condemnedMs).unref();
  }

  cut(connection: Connection): void {
    connection.socket.destroy();
    this.#close(connection);
  }

  #close(connection: Connection): void {
    if (this.#all.get(connection.key) !== connection) return;
    this.#all.delete(connection.key);
    this.#leave(connection);
    const { address } = connection;
    if (address === undefined) return;
    const left = this.#ofAddress.get(address)! - 1;
    if (left > 0) this.#ofAddress.set(address, left);
    else this.#ofAddress.delete(address);
  }

  #sweep(now: number): void {
    const { silentMs, idleMs, headersMs, unreadMs, unreadBytes } = this.#budgets.limits;
    for (const connection of this.#all.values()) {
      if (connection.unreadMs(now, unreadBytes) >= unreadMs) {
        this.#budgets.hit("unreadMs");
        this.cut(connection);
        continue;
      }
      if (connection.isUpgraded || connection.requests > 0) continue;
      const quietMs = now - connection.quietSince;
      // Headers in transit have a time limit of their own.
      const budget = connection.hasAsked ? "idleMs" : "silentMs";
      if (quietMs < (connection.hasAsked ? idleMs + headersMs : silentMs)) continue;
      this.#budgets.hit(budget);
      this.cut(connection);
    }
  }

  /**
   * A request has begun on a connection; it is under way until its answer was read, or the connection
   * closed.
   */
  begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    const exchange: Exchange = { request, response, held: 0 };
    connection.begin(exchange);
    response.once("close", () => {
      connection.end(exchange);
      this.#hold(connection, -exchange.held);
      if (this.#isShared(connection) && connection.requests === 0) this.doubt(connection);
    });
  }

  /** Changes how many bytes are held for a request; the rest is held until its answer was read. */
  holdForRequest(request: IncomingMessage, bytes: number): void {
    const connection = this.of(request.socket);
    const exchange = connection?.exchangeOf(request);
    if (connection === undefined || exchange === undefined) return;
    exchange.held += bytes;
    this.#hold(connection, bytes);
  }

  #hold(connection: Connection, more: number): void {
    const { cuttable, pending } = connection;
    if (more !== 0) this.hold(connection, { cuttable: cuttable + more, pending });
  }

  /**
   * Sets how many bytes the hub holds for a connection. Of clients that hold too much together the
   * heaviest connection is closed. Returns whether it has more calls than it may, so that reading has
   * to pause.
   */
  hold(
    connection: Connection,
    { cuttable, pending }: { readonly cuttable: number; readonly pending: number },
  ): boolean {
    if (this.#all.get(connection.key) !== connection) return false;
    const isStranger = connection.owner === undefined;
    const held = isStranger ? this.#heldForStrangers : this.#heldForKnown;
    held.cuttable += cuttable - connection.cuttable;
    held.pending += pending - connection.pending;
    connection.cuttable = cuttable;
    connection.pending = pending;
    const { strangerHeldBytes, heldBytesPerHub, callBytesAtOnce, callBytesPerHub } =
      this.#budgets.limits;
    if (isStranger) {
      const sum = held.cuttable + held.pending;
      if (sum > strangerHeldBytes) this.#cutHeaviest("strangerHeldBytes", isStranger);
      return false;
    }
    while (held.cuttable > heldBytesPerHub && this.#cutHeaviest("heldBytesPerHub", isStranger));
    const budget =
      pending > callBytesAtOnce
        ? "callBytesAtOnce"
        : held.pending > callBytesPerHub
          ? "callBytesPerHub"
          : undefined;
    if (budget !== undefined) this.#budgets.hit(budget);
    return budget !== undefined;
  }

  /** Closes a connection of the client that holds most memory: opening more of them does not hide it. */
  #cutHeaviest(budget: DoorName, isStranger: boolean): boolean {
    const sums = new Map<string, number>();
    const all = [...this.#all.values()].filter(
      ({ owner, cuttable }) => (owner === undefined) === isStranger && cuttable > 0,
    );
    for (const each of all) sums.set(payerOf(each), (sums.get(payerOf(each)) ?? 0) + each.cuttable);
    this.#budgets.hit(budget);
    const [heaviest] = all.toSorted(
      (a, b) => sums.get(payerOf(b))! - sums.get(payerOf(a))! || b.cuttable - a.cuttable,
    );
    if (heaviest !== undefined) this.cut(heaviest);
    return heaviest !== undefined;
  }

  #release(connection: Connection): void {
    const held = connection.owner === undefined ? this.#heldForStrangers : this.#heldForKnown;
    held.cuttable -= connection.cuttable;
    held.pending -= connection.pending;
    connection.cuttable = 0;
    connection.pending = 0;
  }

  close(): void {
    clearInterval(this.#sweeping);
  }
}

/** Connections by client, each group in the order in which they came. */
class Groups {
  readonly #groups = new Map<string, Set<Connection>>();
  size = 0;

  count(name: string): number {
    return this.#groups.get(name)?.size ?? 0;
  }

  add(name: string, connection: Connection): void {
    let group = this.#groups.get(name);
    if (group === undefined) this.#groups.set(name, (group = new Set()));
    if (group.has(connection)) return;
    group.add(connection);
    this.size++;
  }

  delete(name: string, connection: Connection): void {
    const group = this.#groups.get(name);
    if (group?.delete(connection) !== true) return;
    this.size--;
    if (group.size === 0) this.#groups.delete(name);
  }

  first(name: string, fits: (connection: Connection) => boolean): Connection | undefined {
    for (const each of this.#groups.get(name) ?? []) if (fits(each)) return each;
    return undefined;
  }

  /** The name of the largest group. */
  largest(): string {
    let largest = "";
    for (const [name, { size }] of this.#groups) if (size > this.count(largest)) largest = name;
    return largest;
  }
}

/** Whose share a connection counts against. */
function payerOf({ owner, address = "" }: Connection): string {
  return owner ?? address;
}

function endsOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
