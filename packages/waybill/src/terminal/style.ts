/// <reference types="node" />
import { randomUUID } from "node:crypto";
import { styleText } from "node:util";

/** What a colour is for. Nothing is told by its colour alone. */
const ROLES = {
  strong: ["bold"],
  faint: ["dim"],
  name: ["cyan"],
  good: ["green"],
  bad: ["red"],
  warning: ["yellow"],
  link: ["blue", "underline"],
} as const;

export type Style = Readonly<Record<keyof typeof ROLES, (text: string) => string>>;

/**
 * Stands for the escape of a colour until it is written, and nobody can know it: what strangers wrote
 * is told from what is coloured here, even where somebody has forgotten to look at it.
 */
export const MARK: string = `\u001b${randomUUID()}`;

export function styleFor(hasColors: boolean): Style {
  const roles = Object.entries(ROLES).map(([role, formats]) => {
    // Whether the stream takes colours was decided by the caller, for both streams alike.
    const [before = "", after = ""] = styleText([...formats], "\0", { validateStream: false })
      .replaceAll("\u001b", MARK)
      .split("\0");
    const style = (text: string) => (hasColors && text !== "" ? before + text + after : text);
    return [role, style];
  });
  return Object.fromEntries(roles) as Style;
}

/** https://no-color.org, https://force-color.org, and whether somebody looks at it. */
export function isColored(
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && environment["TERM"] !== "dumb";
}
