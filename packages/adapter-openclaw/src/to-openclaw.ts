import { briefOf, mediaIn, unshowable } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { bytesOf } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, JsonSchema } from "@waybill/protocol";
import type { Told } from "./session.ts";

const REASON = "a turn of OpenClaw takes text and images";

/** Work as one turn: its task in words, and its images. */
export function toldOf(work: PortableWork, output: JsonSchema): Told {
  const { messages = [], artifacts = [] } = work;
  const { instruction, expected_output: expected } = briefOf(work, output);
  const media = messages.flatMap(mediaIn);
  const other = media.find(({ type, data }) => type !== "image" || data === undefined);
  if (other !== undefined) throw unshowable(other, REASON);
  const [images, files] = [artifacts.filter(isImage), artifacts.filter((each) => !isImage(each))];
  const text = [
    instruction,
    ...(expected === undefined ? [] : [`Expected: ${expected}`]),
    ...files.map(fileInWords),
  ].join("\n\n");
  return {
    text: asWords(text),
    images: [...media, ...images].map(({ name = "image", media_type, data = "" }) => ({
      name,
      media_type,
      data,
    })),
  };
}

/** A line that begins with a slash is a command to OpenClaw, whoever wrote it. */
export function asWords(text: string): string {
  return text.trimStart().startsWith("/") ? `The task:\n${text}` : text;
}

function isImage({ media_type, data }: Artifact): boolean {
  return media_type.startsWith("image/") && data !== undefined;
}

/** A file of text is shown as data, which its content can't close. */
function fileInWords(artifact: Artifact): string {
  const { name, media_type } = artifact;
  const text = textIn(artifact);
  if (text !== undefined)
    return `The file ${JSON.stringify(name)}, as a JSON string: ${JSON.stringify(text)}`;
  throw new WaybillError(
    422,
    `The file ${JSON.stringify(name)} of the type ${media_type} can't be shown to the agent: ${REASON}. Leave it out, or send it as text.`,
  );
}

function textIn(artifact: Artifact): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(artifact));
  } catch (error) {
    if (WaybillError.is(error)) throw error;
    return undefined;
  }
}
