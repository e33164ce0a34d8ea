/// <reference types="node" />
import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WaybillError } from "@waybill/protocol";
import { messageCharacters } from "@waybill/protocol/api";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { HubServer } from "../../open-hub.ts";
import type { Rates } from "../doors/rates.ts";
import { addressOf } from "../http/address.ts";
import type { Connection, Connections } from "../http/connections.ts";
import { checkAtDoor } from "../http/door.ts";
import type { DoorOptions } from "../http/door.ts";
import { rawProblem } from "../http/errors.ts";
import type { Budgets } from "../budgets.ts";
import { Session } from "./session.ts";
import type { SessionOptions } from "./session.ts";

export interface SocketsOptions {
  readonly hub: HubServer;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly door: DoorOptions;
  readonly agentRates: Rates;
  readonly called: SessionOptions["called"];
}

const PATH = "/v1/socket";
const NONCE_BYTES = 24;

/** The sockets of connected agents, and of those who have yet to say who they are. */
export class Sockets {
  readonly #options: SocketsOptions;
  readonly #server: WebSocketServer;
  readonly #sessions = new Set<Session>();
  #isClosing = false;

  constructor(server: Server, options: SocketsOptions) {
    this.#options = options;
    const { envelopeBytes } = options.hub.operator.limits;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: messageCharacters(envelopeBytes),
    });
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => undefined);
      const connection = options.connections.of(socket);
      if (connection === undefined) return void socket.destroy();
      connection.isUpgraded = true;
      try {
        this.#check(request, connection);
      } catch (error) {
        socket.end(rawProblem(WaybillError.from(error)), () => socket.destroy());
        return;
      }
      this.#server.handleUpgrade(request, socket, head, (opened) => this.#open(opened, connection));
    });
  }

  /** Those on which an agent is attached. */
  get count(): number {
    return [...this.#sessions].filter(({ agent }) => agent !== undefined).length;
  }

  #check(request: IncomingMessage, connection: Connection): void {
    const { door, connections } = this.#options;
    checkAtDoor(request, door, connection);
    if (request.url?.split("?")[0] !== PATH) {
      throw new WaybillError(404, `There is no socket under this path; it is at ${PATH}.`);
    }
    if (this.#isClosing) throw new WaybillError(503, "This hub is going down; come again.");
    // Behind a proxy it is only known now whose it is.
    if (door.isBehindProxy) connections.countFor(connection, addressOf(request, true));
  }

  #open(socket: WebSocket, connection: Connection): void {
    const { hub, budgets, connections, agentRates, called } = this.#options;
    const session = new Session(socket, {
      hub,
      budgets,
      agentRates,
      called,
      nonce: randomBytes(NONCE_BYTES).toString("base64url"),
      connection,
      introduced: (agent) => connections.prove(connection, agent),
    });
    this.#sessions.add(session);
    void session.ended.then(() => this.#sessions.delete(session));
  }

  /** Answers what is under way on each, and sends everybody away to come again. */
  async close(reason: WaybillError): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#sessions].map((session) => session.drain(reason)));
  }
}
