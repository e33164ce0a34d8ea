import { digestOf } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import {
  artifactOf,
  mediaPart,
  textMessage,
  toolCallPart,
  toolResultPart,
} from "@waybill/agent/adapter";
import type { Media } from "@waybill/agent/adapter";
import type { Artifact, CapabilityInput } from "@waybill/protocol";

/** The served and called capability, if a case is not about the capability itself. */
export const CAPABILITY: CapabilityInput = {
  name: "conformance",
  description: "Sums up what is known about a query.",
  // Shared by every case, so that a framework's agent can be built once for one kind of state.
  input_schema: {
    type: "object",
    properties: { query: { type: "string" }, depth: { type: "integer" } },
    required: ["query"],
  },
  output_schema: {
    type: "object",
    properties: { summary: { type: "string" } },
    required: ["summary"],
  },
  effects: "none",
  lease_seconds: 30,
};

/** For text input and text output. */
export const IN_WORDS: Partial<CapabilityInput> = { takes: "conversation", output_schema: {} };

export const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/**
 * Text that is hard to preserve: other scripts and directions, surrogate pairs, combining marks,
 * quotes and line ends.
 */
export const UNICODE: string =
  'naïve 日本語 عربى שלום 👩🏽‍🚀🇳🇴 𝔘 e\u0301 \u202e"quoted" \\back\\ `tick` \u2028 \t tab\r\nend <tag> ${x} {{y}} %s';

/** A quarter of the largest envelope, in text that does not compress. */
export const LARGE: string = Array.from({ length: 32_000 }, (_, index) =>
  ((index * 2_654_435_761) >>> 0).toString(36).padStart(8, "0"),
).join("");

/** A history with everything that gets lost between frameworks. */
export const HISTORY: readonly Message[] = [
  textMessage("user", "Where does it rain?", "anna"),
  {
    role: "assistant",
    name: "almanac",
    content: [
      { type: "text", text: "I look." },
      toolCallPart({ id: "call_1", name: "weather", arguments: { in: "Bergen", days: [1, 2] } }),
      toolCallPart({ id: "call_2", name: "weather", arguments: { in: "Oslo" } }),
    ],
  },
  { role: "tool", name: "weather", content: [toolResultPart({ id: "call_1", output: "rain" })] },
  {
    role: "tool",
    name: "weather",
    content: [toolResultPart({ id: "call_2", output: { sun: true } })],
  },
  { role: "assistant", name: "almanac", content: [{ type: "text", text: "In Bergen." }] },
  textMessage("user", "Say when.", "editor"),
  {
    role: "user",
    name: "anna",
    content: [
      { type: "text", text: "And " },
      { type: "text", text: "tomorrow?" },
    ],
    sent_from: { device: "phone", at: [60.39, 5.32] },
  },
];

/** The messages that a result adds to a history. */
export const REPLIES: readonly Message[] = [
  {
    role: "assistant",
    name: "forecaster",
    content: [toolCallPart({ id: "call_3", name: "weather", arguments: { in: "Bergen" } })],
  },
  { role: "tool", name: "weather", content: [toolResultPart({ id: "call_3", output: "rain" })] },
  { role: "assistant", name: "forecaster", content: [{ type: "text", text: "Rain again." }] },
];

const bytes = Uint8Array.from({ length: 1024 }, (_, index) => (index * 7) % 256);

/** An image of one pixel, as encoders write it: decoding and encoding it again changes nothing. */
export const IMAGE: Media = {
  type: "image",
  media_type: "image/png",
  name: "pixel.png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPgEpEDAABoAD1UCKP3AAAAAElFTkSuQmCC",
};

/** Messages of a result with media. */
export const SHOWING: readonly Message[] = [
  {
    role: "assistant",
    name: "painter",
    content: [{ type: "text", text: "Here is your tree." }, mediaPart(IMAGE)],
  },
];

/** Media that fewer models take: a sound and a page. */
export const OTHER_MEDIA: readonly Media[] = [
  { type: "audio", media_type: "audio/wav", name: "hello.wav", data: "UklGRgAAAABXQVZF" },
  { type: "file", media_type: "application/pdf", name: "page.pdf", data: "JVBERi0xLjQK" },
];

export const ARTIFACTS: readonly Artifact[] = [
  artifactOf("chart.bin", "application/octet-stream", bytes),
  artifactOf("naïve ✓.txt", "text/plain; charset=utf-8", new TextEncoder().encode("Regen\r\n")),
];

/** Larger than an envelope may be: it is stored at the hub. */
export const LARGE_FILE: Artifact = artifactOf(
  "film.bin",
  "application/octet-stream",
  Uint8Array.from({ length: 1_200_000 }, (_, index) => (index * 31 + (index >> 8)) % 256),
);

/** The same file as an envelope refers to it. */
export const LARGE_BLOB: Artifact = {
  name: LARGE_FILE.name,
  media_type: LARGE_FILE.media_type,
  digest: LARGE_FILE.digest,
  size: 1_200_000,
};

/** Whether something is that file, wherever its bytes are. */
export function isLarge(given: object): boolean {
  return (given as Partial<Artifact>).digest === LARGE_FILE.digest;
}

/** A file with a digest in place of its bytes: a difference in millions of characters can't be shown. */
export function inShort({ data, ...named }: Artifact): object {
  return data === undefined ? named : { ...named, data: digestOf(data) };
}
