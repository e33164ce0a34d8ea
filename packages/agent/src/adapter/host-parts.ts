import { WaybillError } from "@waybill/protocol";
import type { ContentPart, Message } from "@waybill/protocol";
import { mediaFrom, mediaOf } from "./media.ts";
import type { Media, Source } from "./media.ts";

type Found = Omit<Source, "source"> & { readonly source: unknown };

/** How model providers encode an image, a recording and a file. */
const HOST_PARTS: ReadonlyMap<string, (part: ContentPart) => Found> = new Map<
  string,
  (part: ContentPart) => Found
>([
  ["image_url", imageAt],
  ["input_image", imageAt],
  ["input_audio", ({ input_audio: audio }) => ({ type: "audio", source: recordingIn(audio) })],
  [
    "input_file",
    ({ file_data: data, file_url: url, filename }) => ({
      type: "file",
      source: data ?? url,
      name: typeof filename === "string" ? filename : undefined,
    }),
  ],
]);

function imageAt({ image_url: given }: ContentPart): Found {
  const source = typeof given === "object" && given !== null && "url" in given ? given.url : given;
  return { type: "image", source };
}

function recordingIn(audio: unknown): string | undefined {
  const { data, format } = Object(audio) as { data?: unknown; format?: unknown };
  const isHere = typeof data === "string" && typeof format === "string";
  return isHere ? `data:audio/${format};base64,${data}` : undefined;
}

/**
 * Converts a part in a model provider's format for an image, a recording or a file to media; any other
 * part stays as it is. A reference to a file stored at the provider is refused: the recipient would
 * look for it in an account of its own.
 */
export function mediaFromHost(part: ContentPart): ContentPart {
  const found = HOST_PARTS.get(part.type)?.(part);
  if (found === undefined) return part;
  const { source } = found;
  if (typeof source !== "string" || !/^(?:https?:\/\/|data:[^,]*,)/i.test(source))
    throw unreadablePart(part);
  try {
    return mediaFrom({ ...found, source });
  } catch {
    throw unreadablePart(part);
  }
}

function unreadablePart({ type }: ContentPart): WaybillError {
  return new WaybillError(
    422,
    `The history has a part of the type ${type} without its bytes or a readable http or https URL. A file must not be a reference to a model provider's storage: the recipient would look for it in its own account there. Send the bytes, or a URL that anybody can read.`,
  );
}

/**
 * The same for a result, in which nothing is refused: a file stored at the provider is described by
 * its type.
 */
export function mediaFromHostOrWords(part: ContentPart): ContentPart {
  try {
    return mediaFromHost(part);
  } catch {
    return { type: "text", text: `[${part.type}]` };
  }
}

/**
 * Parts that have a field of their own in a turn, and parts of use to one provider alone: a model's
 * reasoning and the calls of its built-in tools.
 */
const SEPARATE_TYPES: ReadonlySet<string> = new Set([
  "tool_call",
  "tool_result",
  "reasoning",
  "thinking",
  "redacted_thinking",
  "invalid_tool_call",
  "server_tool_call",
  "server_tool_call_result",
  "server_tool_use",
  "web_search_tool_result",
]);

/**
 * What a model is shown of a turn, in order: its text, its images, recordings and files. A part that
 * can't be shown is refused, never dropped.
 */
export function shownIn({ content }: Message): (string | Media)[] {
  return content.flatMap((part) => {
    const { type, text, data } = part;
    const media = mediaOf(mediaFromHost(part));
    if (media !== undefined) return media;
    if (text !== undefined) return text;
    if (SEPARATE_TYPES.has(type)) return [];
    if (type === "data") return JSON.stringify(data) ?? [];
    throw new WaybillError(
      422,
      `The history has a part of the type ${type}, which can't be shown to the model: only text, media and data can. Leave it out, or send it as one of these.`,
    );
  });
}
