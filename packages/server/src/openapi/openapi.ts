import { STATUS } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";
import {
  HTTP_STATUS,
  httpShapes,
  OPERATOR_SCHEME,
  jsonSchemaOf,
  PROBLEM_TYPE,
  shapes,
} from "@waybill/protocol/wire";
import type { Shape } from "@waybill/protocol/wire";
import { CONSOLE_SCHEME } from "../console/sessions.ts";
import { NDJSON } from "../operations/operation.ts";
import type { AnyOperation, Who } from "../operations/operation.ts";
import { SOCKET_COSTS } from "../socket/costs.ts";

type Json = Record<string, unknown>;

const DESCRIPTION =
  "Hand work from one agent to another: signed, confirmed by the recipient, bound to a deadline, never silently lost. The envelopes and manifests in these messages are compact JWS, described in the specification of @waybill/protocol; so are the proofs with which agents sign their requests.";

const SECURITY: Readonly<Record<Who, readonly Json[]>> = {
  anyone: [],
  reader: [{}, { agent: [] }, { operator: [] }, { console: [] }],
  local: [{}, { operator: [] }, { console: [] }, { metrics: [] }],
  agent: [{ agent: [] }],
  party: [{ agent: [] }, { operator: [] }, { console: [] }],
  operator: [{ operator: [] }, { console: [] }],
};

const SECURITY_SCHEMES = {
  agent: {
    type: "http",
    scheme: "Waybill",
    description:
      'A compact JWS by a key of the agent over {"waybill":1,"kind":"request","from","to","domain","id","at","method","path","body_digest"}: one for each request.',
  },
  operator: {
    type: "http",
    scheme: OPERATOR_SCHEME,
    description:
      'payload.mac, both in base64url: an HMAC-SHA256, keyed by the operator token, of "waybill operator 1", a line feed and the payload, which is {"waybill":1,"kind":"operator_request","domain","host","id","at","method","path","body_digest"}: one for each request. The token itself is never sent.',
  },
  console: {
    type: "http",
    scheme: CONSOLE_SCHEME,
    description:
      "session.payload.mac: the session that openConsoleSession returned, then payload and mac as those of an operator, keyed by the custody domain, a dot and the key of the session. A session for a reader can only read.",
  },
  metrics: {
    type: "http",
    scheme: "bearer",
    description: "The metrics token with which the hub was started, if any.",
  },
};

/** What the paths below the API are about. */
const TAGS: Readonly<Record<string, string>> = {
  envelopes: "Submit envelopes: each one is signed, so anybody may submit it.",
  agents: "The registered agents, their connections and their manifests.",
  invitations: "Invite agents to enrol, for operators.",
  allowed: "Allow agents or keys to enrol, for operators.",
  groups: "Groups of agents and their quotas, for operators.",
  capabilities: "Find agents for a capability.",
  inbox: "Receive deliveries by long poll, for agents without a socket.",
  handoffs: "The state of handoffs, for their parties and for operators.",
  blobs: "Content that is too large for an envelope, stored under its digest.",
  "dead-letters": "Handoffs that ended without a result of their recipient.",
  ledger: "The ledger of all handoffs, for operators.",
  watch: "New entries of the ledger as they are written, for operators.",
  console: "The page of this hub, and signing in to it.",
  hub: "The hub itself.",
};

/** The description of these operations, generated from the shapes that validate them. */
export function openapi(operations: readonly AnyOperation[], url: string, hub: string): Json {
  const names = namesOfShapes();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation, names);
  }
  const used = new Set<unknown>(operations.flatMap(({ body, answer }) => [body, answer]));
  const schemas: Json = { Problem: jsonSchemaOf(shapes().problem) };
  for (const [name, shape] of Object.entries(allShapes())) {
    if (used.has(shape)) schemas[nameOf(name)] = jsonSchemaOf(shape);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: `Waybill hub ${hub}`,
      version: "1",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    "x-waybill-socket-costs": SOCKET_COSTS,
    components: { schemas, responses: responsesOf(operations), securitySchemes: SECURITY_SCHEMES },
  };
}

function describe(operation: AnyOperation, names: ReadonlyMap<unknown, string>): Json {
  const { id, summary, cost, who, params, query, body, headers = {}, takesBytes } = operation;
  const parameters = [
    ...parametersOf(params, "path"),
    ...parametersOf(query, "query"),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: "header",
      required: false,
      description,
      schema: { type: "string" },
    })),
  ];
  return {
    operationId: id,
    summary,
    "x-waybill-cost": cost,
    tags: [tagOf(operation)],
    security: SECURITY[who],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(names.get(body)!) } }),
    ...(takesBytes === true
      ? { requestBody: { required: true, content: { "application/octet-stream": {} } } }
      : {}),
    responses: { ...answerOf(operation, names), ...problemsOf(operation) },
  };
}

function parametersOf(shape: Shape<unknown> | undefined, place: "path" | "query"): Json[] {
  if (shape === undefined) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(shape) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema,
  }));
}

function answerOf(
  { answer, otherTypes = [], alsoLines, statuses = [200] }: AnyOperation,
  names: ReadonlyMap<unknown, string>,
): Record<number, Json> {
  if (answer === undefined) return { 204: { description: "It is done." } };
  const text = { schema: { type: "string" } };
  const own =
    typeof answer === "string"
      ? { [answer.split(";")[0]!]: answer === "application/json" ? { schema: {} } : text }
      : jsonContent(names.get(answer)!);
  const others = Object.fromEntries([
    ...otherTypes.map((type) => [type, type === "application/json" ? { schema: {} } : text]),
    ...(alsoLines === true ? [[NDJSON, text]] : []),
  ]) as Json;
  const content = { ...own, ...(others as object) };
  return Object.fromEntries(
    statuses.map((status) => [status, { description: "The answer.", content }]),
  );
}

/** The refusals that every operation may have, then those of its caller, its body and itself. */
function refusalsOf(operation: AnyOperation): readonly StatusCode[] {
  const { params, query, body, refusals } = operation;
  // An invalid proof is always refused.
  const statuses: StatusCode[] = [301, 401, 403, 500, 503, ...refusals];
  if (params !== undefined || query !== undefined || body !== undefined) statuses.push(400);
  if (body !== undefined) statuses.push(413);
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}

function problemsOf(operation: AnyOperation): Record<number, Json> {
  return Object.fromEntries(
    refusalsOf(operation).map((status) => [
      HTTP_STATUS[status],
      { $ref: `#/components/responses/${nameOfProblem(status)}` },
    ]),
  );
}

function nameOfProblem(status: StatusCode): string {
  return `Http${HTTP_STATUS[status]}`;
}

function responsesOf(operations: readonly AnyOperation[]): Json {
  const content = { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } };
  const statuses = [...new Set(operations.flatMap(refusalsOf))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      nameOfProblem(status),
      { description: meaningsOf(HTTP_STATUS[status]), content },
    ]),
  );
}

function meaningsOf(http: number): string {
  const meanings = (Object.keys(STATUS).map(Number) as StatusCode[])
    .filter((status) => status >= 300 && HTTP_STATUS[status] === http)
    .map((status) => `${status}: ${STATUS[status].meaning}`);
  return meanings.join(" ");
}

function jsonContent(name: string): Json {
  return { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } };
}

function allShapes(): Readonly<Record<string, Shape<unknown>>> {
  return { ...shapes(), ...httpShapes() };
}

function namesOfShapes(): ReadonlyMap<unknown, string> {
  return new Map(Object.entries(allShapes()).map(([name, shape]) => [shape, nameOf(name)]));
}

function nameOf(shape: string): string {
  return shape[0]!.toUpperCase() + shape.slice(1);
}

function tagOf({ path }: AnyOperation): string {
  const [first = "", second = ""] = path.split("/").slice(1);
  if (first === "console") return first;
  return first === "v1" ? second : "hub";
}
