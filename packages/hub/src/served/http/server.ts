/// <reference types="node" />
import type { Socket } from "node:net";
import { WaybillError } from "@waybill/protocol";
import fastify from "fastify";
import type { FastifyInstance } from "fastify";
import type { HubLimits } from "../../engine/options.ts";
import type { Budgets } from "../budgets.ts";
import { faultOf } from "../log.ts";
import type { HubLogger } from "../log.ts";
import type { TlsFiles } from "../options.ts";
import { readBody } from "./body.ts";
import { checkAtDoor } from "./door.ts";
import type { DoorOptions } from "./door.ts";
import { errorOf, rawProblem, sendProblem } from "./errors.ts";

export interface HttpOptions {
  readonly door: DoorOptions;
  readonly hubLimits: HubLimits;
  readonly budgets: Budgets;
  readonly tls: TlsFiles | undefined;
  readonly logger: HubLogger | undefined;
  /** A request was answered. */
  readonly answered: (route: string, method: string, status: number, seconds: number) => void;
}

const CHECK_TIMES_EACH_MS = 1_000;

/** Reads requests and answers them with problems where they are none; knows no operation. */
export function httpServer({
  door,
  hubLimits,
  budgets,
  tls,
  logger,
  answered,
}: HttpOptions): FastifyInstance {
  const { limits } = budgets;
  const times = {
    headersTimeout: Math.min(limits.headersMs, limits.requestMs),
    connectionsCheckingInterval: CHECK_TIMES_EACH_MS,
  };
  const server = fastify({
    bodyLimit: door.bodyBytes,
    requestTimeout: limits.requestMs,
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    ...(tls === undefined ? { http: times } : { https: { ...times, ...tls } }),
    clientErrorHandler: (error, socket) => refuse(error, socket, budgets),
    frameworkErrors: (error, _request, reply) => sendProblem(reply as never, errorOf(error)),
  });
  server.removeAllContentTypeParsers();
  server.decorateRequest("bodyBytes", null);
  server.decorateRequest("caller");
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    try {
      request.bodyBytes = bytes as Buffer;
      done(null, readBody(bytes as Buffer, hubLimits, door.bodyBytes));
    } catch (error) {
      done(error as Error);
    }
  });
  server.addHook("onRequest", async ({ raw }) => checkAtDoor(raw, door));
  server.addHook("onResponse", async (request, reply) => {
    const { caller, method, routeOptions } = request;
    // Paths and methods that nothing answers to are made up by strangers, without end.
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
      `There is no ${request.method} here under this path; /openapi.json says what there is.`,
    );
  });
  server.setErrorHandler((thrown, request, reply) => {
    const error = errorOf(thrown);
    if (error.status === 500) {
      logger?.error({ route: request.routeOptions.url, fault: faultOf(error) }, "failure");
    }
    // What is left of a body is thrown away as it comes: cut off, its sender would not see why.
    reply.removeHeader("connection");
    request.raw.resume();
    sendProblem(reply, error);
  });
  boundConnections(server, budgets);
  return server;
}

/** What is no HTTP, or comes too slowly. */
function refuse(error: Error & { code?: string }, socket: Socket, budgets: Budgets): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const isLate =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT" || error.code === "ERR_HTTP_HEADERS_TIMEOUT";
  if (isLate) budgets.hit(error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "requestMs" : "headersMs");
  const isLong = error.code === "HPE_HEADER_OVERFLOW";
  const problem = isLate
    ? new WaybillError(400, "The request did not come within its time; send it in one go.")
    : isLong
      ? new WaybillError(413, "The headers of the request are too long.")
      : new WaybillError(400, "This is not HTTP/1.1.");
  socket.end(rawProblem(problem), () => socket.destroy());
}

function boundConnections(server: FastifyInstance, budgets: Budgets): void {
  const open = new Map<string, number>();
  server.server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const count = (open.get(address) ?? 0) + 1;
    if (count > budgets.limits.connectionsPerAddress) {
      budgets.hit("connectionsPerAddress");
      return void socket.destroy();
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = open.get(address)! - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}
