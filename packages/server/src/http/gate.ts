/// <reference types="node" />
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { WaybillError } from "@waybill/protocol";
import type { Budgets } from "../budgets.ts";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import type { Connection, Connections } from "./connections.ts";
import { discardRest } from "./discard.ts";
import { checkHeaders } from "./check-headers.ts";
import type { HeaderCheckOptions } from "./check-headers.ts";
import { plainProblem, rawProblem, tooLate } from "./errors.ts";
import { isUpload } from "./uploads.ts";

export interface GateOptions {
  readonly door: HeaderCheckOptions;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly turns: FairScheduler;
}

/** The longest delay of an answer to a client that asks too early. */
const ANSWER_WITHIN_MS = 1_000;

/** Passes requests on once it is known that they may cost something. */
export function gate(answer: RequestListener, options: GateOptions): RequestListener {
  const { door, budgets, connections, turns } = options;
  return (request, response) => {
    const connection = connections.of(request.socket);
    // What was read together with the request for which the connection was closed.
    if (connection === undefined || connection.isCondemned) return;
    connections.begin(connection, request, response);
    if (connection.requests > budgets.limits.requestsAtOnce) {
      budgets.hit("requestsAtOnce");
      return connections.condemn(connection);
    }
    try {
      door.tolls.note(request, checkHeaders(request, door, connection));
    } catch (error) {
      return refuse(WaybillError.from(error), request, response, connection, options);
    }
    keepTime(request, connection, options);
    const work = () => {
      if (!request.socket.destroyed && !connection.isCondemned) answer(request, response);
    };
    const { owner, address = "" } = connection;
    if (owner === undefined) turns.runForStranger(address, work);
    else turns.run(owner, work);
  };
}

/** A body has to arrive in time. */
function keepTime(
  request: IncomingMessage,
  connection: Connection,
  { budgets, connections }: GateOptions,
): void {
  if (request.complete || isUpload(request)) return;
  const timer = setTimeout(() => {
    if (request.complete) return;
    budgets.hit("requestMs");
    const { socket } = request;
    socket.end(rawProblem(tooLate()), () => connections.cut(connection));
  }, budgets.limits.requestMs);
  const stop = () => clearTimeout(timer);
  request.once("end", stop);
  request.once("close", stop);
}

/** A client that is refused for asking too often is delayed: its next request costs as much as this one. */
function refuse(
  error: WaybillError,
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  { door, connections }: GateOptions,
): void {
  discardRest(request, door.bodyBytes, () => connections.cut(connection));
  const waitMs = Math.min(error.status === 301 ? (error.retryAfterMs ?? 0) : 0, ANSWER_WITHIN_MS);
  const { status, headers, body } = plainProblem(error);
  const send = () => void response.writeHead(status, headers).end(body);
  if (waitMs === 0) return send();
  const timer = setTimeout(send, waitMs);
  response.once("close", () => clearTimeout(timer));
}
