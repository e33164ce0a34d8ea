/// <reference types="node" />
import { randomUUID } from "node:crypto";
import { styleText } from "node:util";

/** The meaning of each colour. No information is in the colour alone. */
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
 * Stands for a colour's escape character until output, and can't be guessed. So foreign escapes are
 * told from our own colours, even in text that was not sanitised.
 */
export const MARK: string = `\u001b${randomUUID()}`;

export function styleFor(hasColors: boolean): Style {
  const roles = Object.entries(ROLES).map(([role, formats]) => {
    // The caller has decided for both streams whether they take colours.
    const [before = "", after = ""] = styleText([...formats], "\0", { validateStream: false })
      .replaceAll("\u001b", MARK)
      .split("\0");
    const style = (text: string) => (hasColors && text !== "" ? before + text + after : text);
    return [role, style];
  });
  return Object.fromEntries(roles) as Style;
}

/** https://no-color.org, https://force-color.org, and whether the stream is a terminal. */
export function isColored(
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && environment["TERM"] !== "dumb";
}
