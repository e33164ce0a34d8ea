/// <reference types="node" />
import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { HubServer } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { defaultNewcomers, messageCharacters } from "@waybill/protocol/wire";
import type { Newcomers } from "@waybill/protocol/wire";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { isForwarded } from "../access/forwarded.ts";
import type { FairBytes } from "../access/fair-bytes.ts";
import type { FairSlots } from "../access/fair-slots.ts";
import type { Toll, RateLimits } from "../access/rate-limits.ts";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import { addressOf } from "../http/address.ts";
import type { Connection, Connections } from "../http/connections.ts";
import { checkHeaders } from "../http/check-headers.ts";
import type { HeaderCheckOptions } from "../http/check-headers.ts";
import { rawProblem } from "../http/errors.ts";
import type { Budgets } from "../budgets.ts";
import { Intake } from "./intake.ts";
import { Reading } from "./reading.ts";
import { AgentSocket } from "./agent-socket.ts";
import type { AgentSocketOptions } from "./agent-socket.ts";

export interface SocketsOptions {
  readonly hub: HubServer;
  readonly newcomers: Newcomers | undefined;
  readonly isLocal: boolean;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly door: HeaderCheckOptions;
  readonly tolls: RateLimits;
  readonly turns: FairScheduler;
  readonly largeMessages: FairBytes;
  readonly slots: FairSlots;
  readonly searchSlots: FairSlots;
  readonly called: AgentSocketOptions["called"];
}

const PATH = "/v1/socket";
const NONCE_BYTES = 24;

/** The sockets of connected agents, and of clients without a hello yet. */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #server: WebSocketServer;
  readonly #agentSockets = new Set<AgentSocket>();
  #isClosing = false;

  constructor(server: Server, options: SocketsOptions) {
    this.#options = options;
    const { envelopeBytes } = options.hub.operator.limits;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: messageCharacters(envelopeBytes),
      maxFragments: options.budgets.limits.fragmentsPerMessage,
      autoPong: false,
    });
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => undefined);
      const connection = options.connections.of(socket);
      if (connection === undefined) return void socket.destroy();
      connection.isUpgraded = true;
      // The next protocol begins with the answer to this request.
      if (head.length > 0) return void socket.destroy();
      let toll: Toll;
      try {
        toll = this.#check(request, connection);
      } catch (error) {
        socket.end(rawProblem(WaybillError.from(error)), () => socket.destroy());
        return;
      }
      this.#server.handleUpgrade(request, socket, head, (opened) => {
        const isLocal = options.isLocal && !isForwarded(request.headers);
        const newcomers = options.newcomers ?? defaultNewcomers({ isLocal });
        const intake = this.#open(opened, { connection, toll, newcomers });
        // Before the parser of frames, which may find the end of a message in it.
        socket.prependListener("data", (part: Buffer) => intake.received(part.length));
      });
    });
  }

  /** Those on which an agent is attached. */
  get count(): number {
    return [...this.#agentSockets].filter(({ agent }) => agent !== undefined).length;
  }

  #check(request: IncomingMessage, connection: Connection): Toll {
    const { door, connections } = this.#options;
    const toll = checkHeaders(request, door, connection);
    if (request.url?.split("?")[0] !== PATH) {
      throw new WaybillError(404, `There is no socket under this path; use ${PATH}.`);
    }
    if (this.#isClosing) throw new WaybillError(503, "This hub is shutting down; reconnect later.");
    // Behind a proxy it is only known now whose it is.
    if (connection.isProxied) connections.countFor(connection, addressOf(request, connection));
    return toll;
  }

  #open(
    socket: WebSocket,
    of: Pick<AgentSocketOptions, "connection" | "toll" | "newcomers">,
  ): Intake {
    const options = { ...this.#options, ...of };
    const reading = new Reading(socket, options);
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const agentSocket = new AgentSocket(socket, reading, { ...options, nonce });
    this.#agentSockets.add(agentSocket);
    void agentSocket.ended.then(() => this.#agentSockets.delete(agentSocket));
    const { limits } = options.hub.operator;
    return new Intake(socket, { ...options, limits, reading, agentSocket });
  }

  /** Answers calls under way on each, and disconnects everybody with a request to reconnect. */
  async close(reason: WaybillError): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#agentSockets].map((each) => each.drain(reason)));
  }
}
