/// <reference types="node" />
import { Buffer } from "node:buffer";
import { artifactOf, bytesOf } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Json } from "@waybill/protocol";
import { isObject } from "./message.ts";

/** Files as a message of AutoGen has them. */
export function filesOf(artifacts: readonly Artifact[]): Json[] {
  return artifacts.map((artifact) => ({
    name: artifact.name,
    media_type: artifact.media_type,
    data: Buffer.from(bytesOf(artifact)).toString("base64"),
  }));
}

export function filesIn(given: Json): Artifact[] {
  if (given === null) return [];
  if (!Array.isArray(given)) throw unreadable();
  return given.map((file) => {
    if (!isObject(file)) throw unreadable();
    const { name, media_type: type, data } = file;
    if (typeof name !== "string" || typeof type !== "string" || typeof data !== "string") {
      throw unreadable();
    }
    return artifactOf(name, type, Buffer.from(data, "base64"));
  });
}

function unreadable(): WaybillError {
  return new WaybillError(
    422,
    "The files of an AutoGen message are a list of what has a name, a media_type and its bytes in base64 as data: these can't be read.",
  );
}
