/// <reference types="node" />
import { Buffer } from "node:buffer";
import { artifactOf, bytesOf } from "@waybill/agent/adapter";
import type { Artifact, Message } from "@waybill/protocol";

/** A file in AutoGen's messages. */
export interface File {
  readonly name: string;
  readonly media_type: string;
  readonly data: string;
}

export function filesOf(artifacts: readonly Artifact[] = []): File[] {
  return artifacts.map((artifact) => ({
    name: artifact.name,
    media_type: artifact.media_type,
    data: Buffer.from(bytesOf(artifact)).toString("base64"),
  }));
}

export function artifactsOf(files: readonly File[]): Artifact[] | undefined {
  if (files.length === 0) return undefined;
  return files.map(({ name, media_type: type, data }) =>
    artifactOf(name, type, Buffer.from(data, "base64")),
  );
}

/** AutoGen uses standard base64 for images, not base64url. */
export function inBase64(message: Message): Message {
  return withImages(message, (data) => Buffer.from(data, "base64url").toString("base64"));
}

export function inBase64Url(message: Message): Message {
  return withImages(message, (data) => Buffer.from(data, "base64").toString("base64url"));
}

function withImages(message: Message, change: (data: string) => string): Message {
  const content = message.content.map((part) =>
    part.type === "image" ? { ...part, data: change(part["data"] as string) } : part,
  );
  return { ...message, content };
}
