import { WaybillError } from "../error.ts";
import { parseJson } from "../json/json.ts";
import type { Json } from "../json/json.ts";
import { LIMITS } from "../limits.ts";
import type { Delivery } from "./delivery.ts";
import { deltaAt } from "./delta.ts";
import type { WireDelta, WireShownDelta } from "./delta.ts";
import { countAt, countsAt, flagAt, malformed, membersOf, textAt } from "./members.ts";
import type { Members } from "./members.ts";
import type { Problem } from "./problem.ts";

/** The calls over a socket. */
export const CALLS = ["submit", "publish", "manifests", "find", "handoff"] as const;
/** The names of the calls over a socket. */
export type CallName = (typeof CALLS)[number];

/** The first frame of a hub, before it knows which agent has connected. */
export interface SocketLimits {
  /** The most characters of one message to the hub, whether it holds one frame or an array of them. */
  readonly message_characters: number;
  readonly envelope_bytes: number;
}

/** What a hub sends over a socket. */
export type HubFrame =
  | {
      readonly type: "challenge";
      readonly waybill: 1;
      readonly hub: string;
      readonly domain: string;
      readonly nonce: string;
      readonly limits: SocketLimits;
    }
  | { readonly type: "attached"; readonly ping_ms: number }
  | { readonly type: "closed"; readonly problem: Problem }
  | {
      readonly type: "reply";
      readonly number: number;
      /** Other calls that have the same answer. */
      readonly also?: readonly number[] | undefined;
      readonly value: unknown;
    }
  | { readonly type: "reply"; readonly number: number; readonly problem: Problem }
  | { readonly type: "delivery"; readonly delivery: Delivery }
  | ({ readonly type: "delta" } & WireShownDelta)
  | { readonly type: "ping" }
  | { readonly type: "pong" };

/** What an agent sends over a socket. */
export type AgentFrame =
  | { readonly type: "hello"; readonly proof: string; readonly credit: number }
  | {
      readonly type: "call";
      readonly number: number;
      readonly call: CallName;
      readonly params: Members;
    }
  | { readonly type: "taken"; readonly handoff_id: string; readonly attempt: number }
  | { readonly type: "heartbeat"; readonly handoff_id: string; readonly attempt: number }
  | ({ readonly type: "delta" } & WireDelta)
  | { readonly type: "seen"; readonly id: string }
  | { readonly type: "credit"; readonly credit: number }
  | { readonly type: "ping" }
  | { readonly type: "pong" };

/** How much deeper frames may nest than the envelopes in them. */
const DEPTH_OF_FRAMES = 4;
/** Room in a message to a hub beside its one largest envelope. */
const FRAME_CHARACTERS = 64 * 1024;

/** The longest message that a hub with this envelope limit accepts. */
export function messageCharacters(envelopeBytes: number = LIMITS.envelopeBytes): number {
  return envelopeBytes + FRAME_CHARACTERS;
}

/** Joins frames, already serialized, to one message. */
export function joinFrames(texts: readonly string[]): string {
  return texts.length === 1 ? texts[0]! : `[${texts.join(",")}]`;
}

/** How large a message over a socket may be. */
export interface FrameLimits {
  readonly characters: number;
  readonly jsonDepth?: number | undefined;
  /** The most frames in one message; unlimited by default. */
  readonly frames?: number | undefined;
}

/** The frames in a message from an agent. */
export function readAgentFrames(text: string, limits: FrameLimits): readonly AgentFrame[] {
  return readFrames(text, limits, AGENT_FRAMES) as readonly AgentFrame[];
}

/** The frames in a message from a hub. Deliveries and problems in them are read when they are used. */
export function readHubFrames(text: string, limits: FrameLimits): readonly HubFrame[] {
  return readFrames(text, limits, HUB_FRAMES) as readonly HubFrame[];
}

function readFrames(
  text: string,
  { characters, jsonDepth = LIMITS.jsonDepth, frames = Infinity }: FrameLimits,
  readers: Readonly<Record<string, FrameReader>>,
): readonly object[] {
  if (hasMoreThan(frames, text)) {
    throw new WaybillError(413, `The message has more than ${frames} frames, which is the limit.`);
  }
  const value = parseJson(text, {
    envelopeBytes: characters,
    jsonDepth: jsonDepth + DEPTH_OF_FRAMES,
  });
  return Array.isArray(value)
    ? value.map((each, index) => readFrame(each, `/${index}`, readers))
    : [readFrame(value, "", readers)];
}

/** Whether an array has more items than this. Parsing a million of them as JSON would take seconds. */
function hasMoreThan(most: number, text: string): boolean {
  // Each takes two characters and a comma.
  if (text.length <= 3 * most) return false;
  let depth = 0;
  let commas = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = endOfString(text, index);
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) depth++;
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--;
    else if (character === COMMA && depth === 1 && ++commas >= most) {
      // The commas of a single frame are between its members.
      return text.trimStart().startsWith("[");
    }
  }
  return false;
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The end of the string that begins here; the end of the text if it is not closed. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function readFrame(
  value: Json,
  at: string,
  readers: Readonly<Record<string, FrameReader>>,
): object {
  const members = membersOf(value, at);
  const type = members["type"];
  if (typeof type !== "string" || !Object.hasOwn(readers, type)) {
    throw malformed(`${at}/type`, `must be one of ${Object.keys(readers).join(", ")}`);
  }
  readers[type]!(members, at);
  return members;
}

/** Checks the members that a frame must have; others are ignored. */
type FrameReader = (members: Members, at: string) => void;

const nothing: FrameReader = () => undefined;

const ofAttempt: FrameReader = (members, at) => {
  textAt(members, "handoff_id", at);
  countAt(members, "attempt", at, 1);
};

const AGENT_FRAMES: Readonly<Record<AgentFrame["type"], FrameReader>> = {
  hello(members, at) {
    textAt(members, "proof", at);
    countAt(members, "credit", at);
  },
  call(members, at) {
    countAt(members, "number", at);
    membersOf(members["params"], `${at}/params`);
    if (CALLS.includes(members["call"] as CallName)) return;
    throw malformed(`${at}/call`, `must be one of ${CALLS.join(", ")}`);
  },
  taken: ofAttempt,
  heartbeat: ofAttempt,
  delta: (members, at) => void deltaAt(members, at),
  seen: (members, at) => void textAt(members, "id", at),
  credit: (members, at) => void countAt(members, "credit", at),
  ping: nothing,
  pong: nothing,
};

const HUB_FRAMES: Readonly<Record<HubFrame["type"], FrameReader>> = {
  challenge(members, at) {
    if (members["waybill"] !== 1) throw malformed(`${at}/waybill`, "must be 1");
    textAt(members, "hub", at);
    textAt(members, "domain", at);
    textAt(members, "nonce", at);
    const limits = membersOf(members["limits"], `${at}/limits`);
    countAt(limits, "message_characters", `${at}/limits`, 1);
    countAt(limits, "envelope_bytes", `${at}/limits`, 1);
  },
  attached: (members, at) => void countAt(members, "ping_ms", at, 1),
  closed: (members, at) => void membersOf(members["problem"], `${at}/problem`),
  reply(members, at) {
    countAt(members, "number", at);
    if (members["problem"] !== undefined)
      return void membersOf(members["problem"], `${at}/problem`);
    if (members["value"] === undefined) throw malformed(at, "must have a value or a problem");
    if (members["also"] !== undefined) countsAt(members, "also", at);
  },
  delivery: (members, at) => void membersOf(members["delivery"], `${at}/delivery`),
  delta(members, at) {
    deltaAt(members, at);
    textAt(members, "by", at);
  },
  ping: nothing,
  pong: nothing,
};

/** What is submitted over a socket. */
export interface Submission {
  readonly envelope: string;
  /** Whether one receipt may confirm it together with others, and one reply answer their calls. */
  readonly sharesReceipt: boolean;
}

/** The arguments of a call that submits an envelope. */
export function readSubmission(params: Members): Submission {
  const isAsked = params["shared_receipt"] !== undefined;
  return {
    envelope: textAt(params, "envelope", ""),
    sharesReceipt: isAsked && flagAt(params, "shared_receipt", ""),
  };
}

/** A member of a call's arguments or of its answer that must be a string. */
export function textOf(value: unknown, name: string): string {
  return textAt(membersOf(value, ""), name, "");
}
