/// <reference types="node" />
import { Readable } from "node:stream";
import { digestOfBytes, WaybillError } from "@waybill/protocol";
import { checked, checkRequestBody, OPERATOR_SCHEME, readRequest } from "@waybill/protocol/wire";
import type { SignedRequest } from "@waybill/protocol/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { callerOf } from "../access/caller.ts";
import type { Caller, CallerOptions, Request } from "../access/caller.ts";
import type { FairSlots } from "../access/fair-slots.ts";
import type { RateLimits, Toll } from "../access/rate-limits.ts";
import { isForwarded } from "../access/forwarded.ts";
import { Bytes, EntryPage, Lines, Page, WithStatus } from "../operations/operation.ts";
import type { AnyOperation, Who } from "../operations/operation.ts";
import type { Served } from "../served.ts";
import type { Connections } from "./connections.ts";
import type { HeaderCheckOptions } from "./check-headers.ts";
import { queryReader } from "./query.ts";
import type { Streams } from "./streams.ts";
import type { UploadBodies } from "./uploads.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller;
    bodyBytes: Uint8Array | null;
  }
}

export interface RouteOptions {
  readonly served: Served;
  readonly callers: CallerOptions;
  readonly connections: Connections;
  readonly tolls: RateLimits;
  readonly slots: FairSlots;
  readonly searchSlots: FairSlots;
  readonly strangerSlots: FairSlots;
  readonly door: HeaderCheckOptions;
  readonly uploads: UploadBodies;
  readonly streams: Streams;
}

/** Registers one operation: the caller is known before a byte of the body is read. */
export function addRoute(
  server: FastifyInstance,
  operation: AnyOperation,
  {
    served,
    callers,
    connections,
    tolls,
    slots,
    searchSlots,
    strangerSlots,
    door,
    uploads,
    streams,
  }: RouteOptions,
): void {
  const { method, path, params, query, body, answer } = operation;
  const readQuery = queryReader(query);

  /** Work that runs at once has a slot; work that only waits takes none. */
  async function inSlot({ raw, caller }: FastifyRequest, work: () => Promise<unknown>) {
    const { address } = tolls.of(raw);
    try {
      if (operation.waits === true) return await work();
      if (caller.type === "stranger") return await strangerSlots.run(address, work);
      const places = operation.isSearch === true ? searchSlots : slots;
      return await places.run(caller.type === "agent" ? caller.agent : address, work);
    } catch (error) {
      if (caller.type === "stranger" && WaybillError.is(error, 401)) tolls.fail(address);
      throw error;
    }
  }

  server.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    async onRequest(request) {
      const connection = connections.of(request.raw.socket);
      const toll = tolls.of(request.raw);
      try {
        request.caller = await callerOf(requestOf(request, toll, door), callers);
      } catch (error) {
        if (WaybillError.is(error, 401)) tolls.fail(toll.address);
        if (connection !== undefined) connections.doubt(connection);
        throw error;
      }
      const { caller } = request;
      const owner = caller.type === "agent" ? caller.agent : OPERATORS;
      if (isKnown(caller) && connection !== undefined) connections.prove(connection, owner);
      admitCaller(caller, operation, opennessOf(request, served));
      // Whatever its content type, it is not read before the operation asks for it.
      if (operation.takesBytes === true) request.raw.headers["content-type"] = OCTETS;
      if (caller.type === "agent") tolls.pay(toll, caller.agent);
      else if (caller.type === "operator") tolls.forget(toll);
    },
    async preValidation({ caller, bodyBytes }) {
      if (caller.type !== "agent" && caller.type !== "operator") return;
      checkRequestBody(caller.claim, bodyBytes === null ? undefined : digestOfBytes(bodyBytes));
    },
    async handler(request, reply) {
      const asked = {
        served,
        caller: request.caller,
        isLocal: opennessOf(request, served).isLocal,
        params: params && checked(params, request.params, "The path"),
        query: query && checked(query, readQuery(request.query as object as never), "The query"),
        body: body && checked(body, request.body ?? undefined, "The body"),
        signal: AbortSignal.any([signalOf(request, reply), served.closing]),
        accepts: (type: string) => request.headers.accept?.includes(type) === true,
        header: (name: string) => headerOf(request, name),
        signed: () => signedRequest(request),
        bytes: operation.takesBytes === true ? uploads.take(request, reply) : NOTHING,
      };
      if (operation.isPublication === true) {
        const { address, bytes } = tolls.of(request.raw);
        tolls.publish(address, bytes);
      }
      const given = await inSlot(request, () => operation.handle(asked));
      if (given instanceof Lines || given instanceof EntryPage || given instanceof Bytes) {
        return streams.send(request, reply, given);
      }
      if (given instanceof Page) {
        return reply
          .headers({ ...given.headers, vary: "accept" })
          .type(given.type)
          .send(given.text);
      }
      if (served.isEnding) reply.header("connection", "close");
      if (answer === undefined) return reply.code(204).send();
      if (given instanceof WithStatus) {
        return reply.code(given.status).type("application/json").send(JSON.stringify(given.value));
      }
      reply.type(typeof answer === "string" ? answer : "application/json");
      return reply.send(typeof given === "string" ? given : JSON.stringify(given));
    },
  });
}

function requestOf(
  { headers, method, url, raw }: FastifyRequest,
  { address: from }: Toll,
  { hosts }: HeaderCheckOptions,
): Request {
  const { localAddress, localPort } = raw.socket;
  const ends = { from, localAddress, localPort };
  const { authorization } = headers;
  return { authorization, method, path: url, isAskedAt: (host) => hosts.isAt(host, ends) };
}

function signedRequest({ caller, headers, bodyBytes }: FastifyRequest): SignedRequest | undefined {
  if (caller.type !== "agent") return undefined;
  const { authorization = "" } = headers;
  const body = new TextDecoder().decode(bodyBytes ?? undefined);
  return { by: caller.agent, request: readRequest(authorization).proof, body };
}

/** No agent has this name. */
const OPERATORS = "";

type Openness = Pick<Served, "isOpenRegistry" | "isLocal">;

function opennessOf({ headers }: FastifyRequest, { isOpenRegistry, isLocal }: Openness): Openness {
  return { isOpenRegistry, isLocal: isLocal && !isForwarded(headers) };
}

const ALLOWED: Readonly<Record<Who, (caller: Caller, served: Openness) => boolean>> = {
  anyone: () => true,
  reader: (caller, { isOpenRegistry, isLocal }) => (isOpenRegistry ?? isLocal) || isKnown(caller),
  local: ({ type }, { isLocal }) => isLocal || type === "operator" || type === "scraper",
  agent: ({ type }) => type === "agent",
  party: isKnown,
  operator: ({ type }) => type === "operator",
};

function isKnown({ type }: Caller): boolean {
  return type === "agent" || type === "operator";
}

const SIGNED = "with a signed request (Authorization: Waybill <JWS>)";
const OPERATOR = `an operator (Authorization: ${OPERATOR_SCHEME} <payload>.<mac>)`;

const WANTED: Readonly<Record<Who, string>> = {
  anyone: "anyone",
  reader: "an agent that is enrolled here, or an operator",
  local: `${OPERATOR}, or for whoever has its metrics token (Bearer <token>)`,
  agent: `an agent, ${SIGNED}`,
  party: `a party of it, ${SIGNED}, or ${OPERATOR}`,
  operator: OPERATOR,
};

function admitCaller(
  caller: Caller,
  { who, method, isSearch }: AnyOperation,
  served: Openness,
): void {
  const isReading = method === "GET" || method === "HEAD" || isSearch === true;
  if (caller.type === "operator" && caller.isReader === true && !isReading) {
    throw new WaybillError(
      403,
      "This session may only read. Sign in with a link for an operator: waybill console --role operator.",
    );
  }
  if (ALLOWED[who](caller, served)) return;
  throw new WaybillError(
    caller.type === "stranger" ? 401 : 403,
    `This is for ${WANTED[who]}; it was requested by ${caller.type === "stranger" ? "a stranger" : `an ${caller.type}`}.`,
  );
}

function signalOf(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  request.raw.socket.once("close", abort);
  reply.raw.once("close", () => {
    request.raw.socket.off("close", abort);
    abort();
  });
  return controller.signal;

  function abort(): void {
    controller.abort();
  }
}

/** The content type of arbitrary bytes, which no parser reads. */
export const OCTETS = "application/octet-stream";

/** If a header is repeated, two readers could use different ones. */
function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The body of whatever has none. */
const NOTHING: AsyncIterable<Uint8Array> = Readable.from([]);
