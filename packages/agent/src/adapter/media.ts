/// <reference types="node" />
import { Buffer } from "node:buffer";
import { WaybillError } from "@waybill/protocol";
import type { ContentPart, Message } from "@waybill/protocol";

/** An image, a recording or another file in a message: its bytes in unpadded base64url, or where they lie. */
export interface Media {
  readonly type: "image" | "audio" | "file";
  readonly media_type: string;
  readonly name?: string | undefined;
  readonly data?: string | undefined;
  readonly url?: string | undefined;
}

const TYPES: ReadonlySet<string> = new Set(["image", "audio", "file"]);
const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),(.*)$/is;

/** An image, a recording or another file, as one part of a message. */
export function mediaPart({ type, media_type, name, data, url }: Media): ContentPart {
  const source = data === undefined ? { url } : { data };
  return { type, media_type, ...(name === undefined ? {} : { name }), ...source };
}

/** The image, recording or file that a part is; undefined where it is none of them. */
export function mediaOf(part: ContentPart): Media | undefined {
  if (!TYPES.has(part.type)) return undefined;
  const { type, media_type, name, data, url } = part as unknown as Media;
  const isWhole = typeof media_type === "string" && (typeof data === "string") !== !!url;
  if (isWhole) return { type, media_type, name, data, url };
  throw new WaybillError(
    422,
    `A part of the type ${type} in a message has a media_type, and either data in base64url or a url: this one can't be read.`,
  );
}

/** The images, recordings and files in a message. */
export function mediaIn({ content }: Message): Media[] {
  return content.flatMap((part) => mediaOf(part) ?? []);
}

/** What a model that is not shown an image, a recording or a file is told of it. */
export function mediaInWords({ type, media_type, name, url }: Media): string {
  const called = [type, ...(name === undefined ? [] : [name])].join(" ");
  return `[${[called, media_type, ...(url === undefined ? [] : [`at ${url}`])].join(", ")}]`;
}

/** Where a part's bytes are, as a framework takes it: in a data URL, or at a URL. */
export function sourceOf(media: Media): string {
  const base64 = base64Of(media);
  return base64 === undefined ? media.url! : `data:${media.media_type};base64,${base64}`;
}

/** A part's bytes in the alphabet that frameworks use; undefined where they lie elsewhere. */
export function base64Of({ data }: Media): string | undefined {
  return data === undefined ? undefined : Buffer.from(data, "base64url").toString("base64");
}

/** What a framework says of an image, a recording or a file, which may be in a data URL. */
export interface Source {
  readonly type: Media["type"];
  readonly source: string;
  readonly name?: string | undefined;
  /** Where the source is no data URL, which says it itself. */
  readonly mediaType?: string | undefined;
}

/** A part of a message from where a framework has the bytes. */
export function mediaFrom({ type, source, name, mediaType = ANY[type] }: Source): ContentPart {
  const [, itsType, parameters, content] = DATA_URL.exec(source) ?? [];
  if (content === undefined) return mediaPart({ type, media_type: mediaType, name, url: source });
  const bytes = /;base64$/i.test(parameters!)
    ? Buffer.from(content, "base64")
    : Buffer.from(decodeURIComponent(content));
  const data = bytes.toString("base64url");
  return mediaPart({ type, media_type: itsType || mediaType, name, data });
}

const ANY = { image: "image/*", audio: "audio/*", file: "application/octet-stream" } as const;

/** Refuses work with something that a framework can't show to its model: it is never dropped. */
export function unshowable({ type, media_type, name }: Media, reason: string): WaybillError {
  const called = name === undefined ? "" : ` ${name}`;
  return new WaybillError(
    422,
    `The history has the ${type}${called} of the type ${media_type}, which can't be shown to the model: ${reason}. Leave it out, or send it in another form.`,
  );
}

/**
 * The same conversation, in which images, recordings and files stand in turns of users alone: models
 * take them from nobody else. What another has shown is a turn under that one's name, after the turn
 * that it was in and the results of its tools.
 */
export function shownByUsers(messages: readonly Message[]): Message[] {
  const shown: Message[] = [];
  let held: Message[] = [];
  for (const message of messages) {
    if (message.role !== "tool") {
      shown.push(...held);
      held = [];
    }
    const media = message.role === "user" ? [] : mediaIn(message);
    if (media.length === 0) {
      shown.push(message);
      continue;
    }
    const { role, name = role } = message;
    const words = message.content.filter((part) => mediaOf(part) === undefined);
    if (words.length > 0) shown.push({ ...message, content: words });
    held.push({ role: "user", name, content: media.map(mediaPart) });
  }
  return [...shown, ...held];
}
