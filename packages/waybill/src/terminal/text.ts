/// <reference types="node" />
import { withoutColors, withoutUnseen } from "./unseen.ts";

/** Foreign text in one line, made safe to print. */
export function printable(text: string, charactersMax = 400): string {
  const line = withoutUnseen(text, " ").replaceAll(/ {2,}/g, " ").trim();
  return shortened(line, charactersMax);
}

/** Foreign text of several lines, made safe to print. */
export function printableLines(text: string): string {
  return text
    .split("\n")
    .map((line) => withoutUnseen(line, " "))
    .join("\n");
}

/** Shortens text, between two words if possible. */
export function shortened(text: string, charactersMax: number): string {
  const characters = [...text];
  if (characters.length <= charactersMax) return text;
  const cut = characters.slice(0, Math.max(0, charactersMax - 1));
  const space = characters[cut.length] === " " ? cut.length : cut.lastIndexOf(" ");
  return `${cut.slice(0, space > charactersMax / 2 ? space : undefined).join("")}…`;
}

/** JSON in one line, with spaces where it can be wrapped. */
export function spacedJson(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/([[{])\n */g, "$1")
    .replaceAll(/\n *([\]}])/g, "$1")
    .replaceAll(/\n */g, " ");
}

const segmenter = new Intl.Segmenter();

/** How many columns the text takes, without its colours. */
export function widthOf(text: string): number {
  const plain = withoutColors(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of segmenter.segment(plain)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation})/u;

export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** `1 handoff`, `3 handoffs` */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}
