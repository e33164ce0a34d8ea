/// <reference types="node" />
import { createServer as createPlain } from "node:http";
import type { RequestListener, Server } from "node:http";
import { createServer as createSecure } from "node:https";
import { once } from "node:events";
import { lookup } from "node:dns/promises";
import type { AddressInfo, Socket } from "node:net";
import type { HubLimits } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import fastify from "fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Budgets } from "../budgets.ts";
import type { FairBytes } from "../access/fair-bytes.ts";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import { faultOf } from "../log.ts";
import type { HubLogger } from "../log.ts";
import type { TlsFiles } from "../options.ts";
import { leaveBody, readBody } from "./body.ts";
import type { Connections } from "./connections.ts";
import { discardRest } from "./discard.ts";
import type { HeaderCheckOptions } from "./check-headers.ts";
import { errorOf, rawProblem, sendProblem, tooLate } from "./errors.ts";
import { gate } from "./gate.ts";
import { OCTETS } from "./routes.ts";
import type { Transport } from "./address.ts";
import { listenOnUnixSocket } from "./unix-socket.ts";
import { isUpload } from "./uploads.ts";

export interface HttpOptions {
  readonly door: HeaderCheckOptions;
  readonly hubLimits: HubLimits;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly turns: FairScheduler;
  readonly largeMessages: FairBytes;
  readonly tls: TlsFiles | undefined;
  readonly logger: HubLogger | undefined;
  /** A request was answered. */
  readonly answered: (route: string, method: string, status: number, seconds: number) => void;
}

export interface HttpServer {
  readonly fastify: FastifyInstance;
  listen(where: Listening): Promise<void>;
  close(cutAfterMs: number): Promise<void>;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Of the Unix socket, if there is to be one. */
  readonly socketPath: string | undefined;
}

const CHECK_TIMES_EACH_MS = 1_000;

/** Reads HTTP requests and answers invalid ones with problems; knows no operation. */
export function httpServer(options: HttpOptions): HttpServer {
  const { door, budgets, connections, logger, answered } = options;
  let answering: RequestListener;
  const beside: Server[] = [];
  const transport = options.tls === undefined ? "tcp" : "tls";
  const openBeside = (over: Transport): Server => {
    const opened = openServer(answering, options, over);
    opened.on("upgrade", (...upgrade) => server.server.emit("upgrade", ...upgrade));
    opened.on("clientError", (error: Error, socket: Socket) => refuse(error, socket, budgets));
    return opened;
  };
  const close = async (cutAfterMs: number): Promise<void> => {
    const all = [server.server, ...beside];
    // Connections without requests are not waited for.
    const cut = setTimeout(() => all.forEach((each) => each.closeAllConnections()), cutAfterMs);
    const closed = beside.map((each) => new Promise((resolve) => each.close(resolve)));
    await Promise.all([server.close(), ...closed]);
    clearTimeout(cut);
  };
  const server = fastify({
    bodyLimit: door.bodyBytes,
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    serverFactory(answer) {
      answering = answer;
      return openServer(answer, options, transport);
    },
    clientErrorHandler: (error, socket) => refuse(error, socket, budgets),
    frameworkErrors: (error, _request, reply) => sendProblem(reply as never, errorOf(error)),
  });
  server.removeAllContentTypeParsers();
  server.decorateRequest("bodyBytes", null);
  server.decorateRequest("caller");
  server.addContentTypeParser("application/json", async (request: FastifyRequest) => {
    const { bytes, value } = await readBody(request.raw, options);
    request.bodyBytes = bytes;
    return value;
  });
  server.addContentTypeParser(OCTETS, (request, _body, done) => {
    if (isUpload(request.raw)) return done(null);
    done(new WaybillError(400, "The body must be application/json: set the Content-Type."));
  });
  server.addHook("onSend", (request, _reply, payload, done) => {
    leaveBody(request.raw, options.largeMessages);
    if (typeof payload === "string") connections.holdForRequest(request.raw, payload.length);
    done(null, payload);
  });
  server.addHook("onResponse", async (request, reply) => {
    const { caller, method, routeOptions } = request;
    // Unknown paths and methods are chosen by strangers: their number is unlimited.
    if (routeOptions.url !== undefined) {
      answered(routeOptions.url, method, reply.statusCode, reply.elapsedTime / 1000);
    }
    logger?.info(
      {
        method,
        route: routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        agent: caller?.type === "agent" ? caller.agent : undefined,
      },
      "request",
    );
  });
  server.setNotFoundHandler((request) => {
    throw new WaybillError(
      404,
      `There is no ${request.method} under this path; /openapi.json lists the operations.`,
    );
  });
  server.setErrorHandler((thrown, request, reply) => {
    const error = errorOf(thrown);
    if (error.status === 500) {
      logger?.error({ route: request.routeOptions.url, fault: faultOf(error) }, "failure");
    }
    reply.removeHeader("connection");
    discardRest(request.raw, door.bodyBytes, () => request.raw.socket.destroy());
    sendProblem(reply, error);
  });
  return {
    fastify: server,
    async listen({ host, port, socketPath }) {
      await server.listen({ host, port });
      if (host === "localhost") {
        beside.push(...(await listenBeside(server.server, () => openBeside(transport))));
      }
      if (socketPath === undefined) return;
      const onSocket = openBeside("unix");
      try {
        await listenOnUnixSocket(onSocket, socketPath);
      } catch (error) {
        await close(0);
        throw error;
      }
      beside.push(onSocket);
    },
    close,
  };
}

/** The underlying server, behind the limits of connections. */
function openServer(
  answer: RequestListener,
  { door, budgets, connections, turns, tls }: HttpOptions,
  transport: Transport,
): Server {
  const { headersMs, requestMs, idleMs, silentMs, headerBytes } = budgets.limits;
  const bounds = {
    headersTimeout: Math.min(headersMs, requestMs),
    // Uploads take as long as they need, so the gate enforces this timeout for the others.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: CHECK_TIMES_EACH_MS,
    maxHeaderSize: headerBytes,
  };
  const server =
    transport === "tls"
      ? createSecure({ ...bounds, ...tls, handshakeTimeout: silentMs })
      : createPlain(bounds);
  connections.watch(server, transport);
  const gates = { door, budgets, connections, turns };
  server.on("request", gate(answer, gates));
  // 100-continue is sent after all checks of the headers.
  const askForBody: RequestListener = (request, response) => {
    // For an upload it is sent once its sender is known, and may upload.
    if (!isUpload(request)) response.writeContinue();
    answer(request, response);
  };
  server.on("checkContinue", gate(askForBody, gates));
  return server;
}

/** `localhost` may be two addresses, and a server listens on one: this opens the other. */
async function listenBeside(main: Server, open: () => Server): Promise<Server[]> {
  const { address, port } = main.address() as AddressInfo;
  const all = await lookup("localhost", { all: true });
  const others = all.filter((each) => each.address !== address);
  const servers = await Promise.all(
    others.map(async (other) => {
      const server = open();
      server.listen(port, other.address);
      const isListening = await once(server, "listening").then(
        () => true,
        () => false,
      );
      return isListening ? server : undefined;
    }),
  );
  return servers.filter((server) => server !== undefined);
}

/** Input that is not HTTP, or arrives too slowly. */
function refuse(error: Error & { code?: string }, socket: Socket, budgets: Budgets): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const isLate = error.code === "ERR_HTTP_HEADERS_TIMEOUT";
  if (isLate) budgets.hit("headersMs");
  const isLong = error.code === "HPE_HEADER_OVERFLOW";
  const problem = isLate
    ? tooLate()
    : isLong
      ? new WaybillError(413, "The headers of the request are too long.")
      : new WaybillError(400, "This is not HTTP/1.1.");
  socket.end(rawProblem(problem), () => socket.destroy());
}
