/// <reference types="node" />
import { Buffer } from "node:buffer";
import { WaybillError } from "@waybill/protocol";
import type { ContentPart, Message } from "@waybill/protocol";

/** An image, a recording or another file in a message: its bytes in unpadded base64url, or its URL. */
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

/** The media of a part; undefined for any other part. */
export function mediaOf(part: ContentPart): Media | undefined {
  if (!TYPES.has(part.type)) return undefined;
  const { type, media_type, name, data, url } = part as unknown as Media;
  const isWhole = typeof media_type === "string" && (typeof data === "string") !== !!url;
  if (isWhole) return { type, media_type, name, data, url };
  throw new WaybillError(
    422,
    `A part of the type ${type} in a message can't be read: it must have a media_type, and either data in base64url or a url.`,
  );
}

/** The images, recordings and files in a message. */
export function mediaIn({ content }: Message): Media[] {
  return content.flatMap((part) => mediaOf(part) ?? []);
}

/** The text for a model that can't be shown an image, a recording or a file. */
export function mediaInWords({ type, media_type, name, url }: Media): string {
  const called = [type, ...(name === undefined ? [] : [name])].join(" ");
  return `[${[called, media_type, ...(url === undefined ? [] : [`at ${url}`])].join(", ")}]`;
}

/** The location of a part's bytes as frameworks take it: a data URL, or a URL. */
export function sourceOf(media: Media): string {
  const base64 = base64Of(media);
  return base64 === undefined ? media.url! : `data:${media.media_type};base64,${base64}`;
}

/** A part's bytes in standard base64, as frameworks take them; undefined for a URL. */
export function base64Of({ data }: Media): string | undefined {
  return data === undefined ? undefined : Buffer.from(data, "base64url").toString("base64");
}

/** What a framework says about an image, a recording or a file, which may be a data URL. */
export interface Source {
  readonly type: Media["type"];
  readonly source: string;
  readonly name?: string | undefined;
  /** The media type, needed where the source is not a data URL. */
  readonly mediaType?: string | undefined;
}

/** A part of a message, made from a framework's data URL or URL. */
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

/** Refuses work with media that a framework can't show to its model: media are never dropped. */
export function unshowable({ type, media_type, name }: Media, reason: string): WaybillError {
  const called = name === undefined ? "" : ` ${name}`;
  return new WaybillError(
    422,
    `The history has the ${type}${called} of the type ${media_type}, which can't be shown to the model: ${reason}. Leave it out, or send it in another form.`,
  );
}

/**
 * The same conversation with media in turns of users only, because models accept them from no other
 * role. Media of another role become a user's turn under that speaker's name, after the turn that they
 * were in and the results of its tools.
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
