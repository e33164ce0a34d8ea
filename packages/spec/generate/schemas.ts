import {
  capabilitySchema,
  envelopeSchemas,
  httpShapes,
  MEDIA_TYPES,
  messageSchemas,
  shapes,
} from "./internals.ts";
import { manifestSchema } from "./manifest-shape.ts";
import * as z from "zod";

type Json = Record<string, unknown>;

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Rules that a schema can't express, at their place; by kind, then by JSON Pointer. */
const NOTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  handoff: {
    "": "One unit of work, signed by its delegator.",
    "/properties/issued_at":
      "A time of the calendar, at most 60 seconds ahead of the reader's clock.",
    "/properties/deadline":
      "A time of the calendar, later than issued_at and at most 366 days later.",
    "/properties/hop": "At most 16, else 413.",
    "/properties/group":
      "index is less than size; quorum is present exactly when join is quorum, and at most size. More than 256 members are 413.",
    "/properties/body/properties/artifacts": "At most 256, else 413.",
    "/properties/body/properties/artifacts/items":
      "Exactly one of data, url and size: anything else is refused. One with size is a blob.",
  },
  cancel: { "": "The delegator does not want its handoff any more." },
  answer: {
    "": "The delegator's answer to one question.",
    "/properties/body": "answer may be null, and may not be left out.",
  },
  receipt: {
    "": "A confirmation: of custody (100), of the acceptance (101), of a result (200), a release (300, 301) or a rejection (400 and above).",
    "/properties/body/properties/also":
      "Only with 100 and 200. At most 64, else 413; no handoff twice, and not that of the envelope itself.",
  },
  progress: { "": "The recipient is still working." },
  question: {
    "": "The recipient asks. With a state it ends its attempt.",
    "/properties/body/properties/questions": "At most 256, else 413; no id twice.",
    "/properties/body/properties/state": "At most 262,144 characters, else 413.",
  },
  result: {
    "": "How an attempt ended, by its recipient.",
    "/properties/body": "A status of 400 and above needs an error.",
    "/properties/body/properties/status": "200, or 400 and above.",
    "/properties/body/properties/artifacts": "At most 256, else 413.",
    "/properties/body/properties/artifacts/items":
      "Exactly one of data, url and size: anything else is refused. One with size is a blob.",
  },
  notice: { "": "The hub's word on what no party said." },
  manifest: {
    "": "What an agent signs about itself: keys, capabilities, terms.",
    "/properties/keys/items":
      "A public key: a member d is refused. kid is the RFC 7638 thumbprint. not_after is later than not_before.",
    "/properties/inbox": "Where the hub pushes deliveries.",
    "/properties/previous":
      "Present exactly when sequence is above 1: the digest of the manifest before.",
    "/properties/capabilities": "No name twice in the same version.",
  },
  "frame-agent": {
    "": "What an agent says on a socket: one frame. A message may be an array of them.",
  },
  "frame-hub": { "": "What a hub says on a socket: one frame. A message may be an array of them." },
  delivery: { "": "What a hub brings to an agent. Everything may come more than once." },
  "handoff-view": { "": "The state of a handoff, as far as a party to it may know." },
  push: {
    "": "What a hub posts to the inbox of an agent that only listens.",
    "/properties/challenge":
      "What the answer is to have in echo: without it nothing is delivered here.",
  },
  "push-answer": {
    "": "What the agent answers it with, where it has something to say.",
    "/properties/echo": "The challenge of the push.",
  },
  problem: { "": "An error, as HTTP and sockets carry it." },
};

/** The schema files, by name. */
export function schemas(): Map<string, Json> {
  const shapesOfSigned: Record<string, z.ZodType> = {
    ...envelopeSchemas(),
    manifest: manifestSchema(capabilitySchema()),
  };
  const api = shapes();
  const wire: Record<string, z.ZodType> = {
    "frame-agent": api.agentFrame,
    "frame-hub": api.hubFrame,
    delivery: api.delivery,
    "handoff-view": api.handoffView,
    push: httpShapes().push,
    "push-answer": httpShapes().pushAnswer,
    problem: api.problem,
  };
  return new Map(
    Object.entries({ ...shapesOfSigned, ...wire }).map(([kind, shape]) => [
      `${kind}.json`,
      schemaOf(kind, shape),
    ]),
  );
}

function schemaOf(kind: string, shape: z.ZodType): Json {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io: "input",
    target: "draft-2020-12",
    override: ({ zodSchema, jsonSchema }) => {
      if ((zodSchema as unknown) === messageSchemas().part) addMedia(jsonSchema);
    },
  }) as Json;
  requireAnswer(schema, kind);
  const title = `Waybill ${Object.hasOwn(envelopeSchemas(), kind) ? "envelope: " : ""}${kind}`;
  for (const [pointer, note] of Object.entries(NOTES[kind] ?? {})) {
    const place = at(schema, pointer);
    place["description"] = note;
  }
  const { description, ...rest } = schema;
  return { $schema: DIALECT, $id: `urn:waybill:1:${kind}`, title, description, ...rest };
}

/** The required members of a part depend on its type, which zod's schema checks with a function. */
function addMedia(part: Json): void {
  const { $schema: _dialect, ...media } = z.toJSONSchema(messageSchemas().media) as Json;
  part["anyOf"] = [
    { not: { properties: { type: { enum: MEDIA_TYPES } } } },
    { ...media, oneOf: [{ required: ["data"] }, { required: ["url"] }] },
  ];
}

/** For zod an unknown value is optional; this one is required. */
function requireAnswer(schema: Json, kind: string): void {
  if (kind !== "answer") return;
  const body = at(schema, "/properties/body");
  const required = body["required"] as string[];
  if (!required.includes("answer")) required.push("answer");
}

function at(schema: Json, pointer: string): Json {
  let place: unknown = schema;
  for (const name of pointer.split("/").slice(1)) place = (place as Json | undefined)?.[name];
  if (typeof place !== "object" || place === null)
    throw new Error(`there is no ${pointer} in the schema`);
  return place as Json;
}
