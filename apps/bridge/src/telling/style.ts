/// <reference types="node" />
import { styleText } from "node:util";

export type Color = Extract<Parameters<typeof styleText>[0], string>;

export type Paint = (text: string, ...formats: Color[]) => string;

/** https://no-color.org, https://force-color.org, and whether the stream is a terminal. */
export function paintFor(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Paint {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = environment;
  const isForced = FORCE_COLOR !== "" && FORCE_COLOR !== "0";
  const isColored = NO_COLOR === "" && (isForced || (stream.isTTY && TERM !== "dumb"));
  return (text, ...formats) =>
    isColored && text !== "" ? styleText(formats, text, { validateStream: false }) : text;
}
