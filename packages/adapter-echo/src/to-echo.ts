/// <reference types="node" />
import { Buffer } from "node:buffer";
import {
  bytesOf,
  conversationOf,
  mediaIn,
  speechOf,
  messageTextWithMedia,
  unshowable,
} from "@waybill/agent/adapter";
import type { Media, PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Message } from "@waybill/protocol";
import type { EchoFile, EchoLine, EchoPrompt } from "./echo.ts";

/** Work as a prompt: an Echo takes a value, or lines if there is none, and files with both. */
export function promptOf(work: PortableWork): EchoPrompt {
  const { input, artifacts = [] } = work;
  const isStructured = input !== undefined;
  const messages = isStructured ? (work.messages ?? []) : conversationOf(work);
  const lines = messages.map(lineOf);
  const shown = messages.flatMap((message) =>
    mediaIn(message).map((media) => shownFileOf(media, message)),
  );
  const files = [...shown, ...artifacts.map(fileOf)];
  return isStructured ? { value: input, lines, files } : { lines, files };
}

/**
 * An Echo reads only the line of a message: it does not support tool calls, so those and media are
 * described in words. The original goes along for the way back.
 */
export function lineOf(message: Message): EchoLine {
  const { role, name } = message;
  return { speaker: role, name, text: messageTextWithMedia(message), extra: { message } };
}

/**
 * A message of another agent's result as that agent's line, under its name here. The original goes
 * along for code, and never becomes a line.
 */
export function speechLineOf(received: Message, name: string): EchoLine {
  const line = lineOf(speechOf(received, name));
  return { ...line, extra: { ...line.extra, received } };
}

/** A line can't hold an image, a recording or a file: it is a file of the prompt, with its speaker's name. */
function shownFileOf(media: Media, { name: speaker, role }: Message): EchoFile {
  const { type, name = type, media_type, data } = media;
  if (data === undefined) throw unshowable(media, "an Echo fetches nothing");
  const bytes = Uint8Array.from(Buffer.from(data, "base64url"));
  return { title: `${speaker ?? role}: ${name}`, type: media_type, bytes };
}

export function fileOf(artifact: Artifact): EchoFile {
  return { title: artifact.name, type: artifact.media_type, bytes: bytesOf(artifact) };
}
