/// <reference types="node" />
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

export function styleFor(hasColors: boolean): Style {
  const roles = Object.entries(ROLES).map(([role, formats]) => [
    role,
    // Whether the stream takes colours was decided by the caller, for both streams alike.
    (text: string) =>
      hasColors && text !== "" ? styleText([...formats], text, { validateStream: false }) : text,
  ]);
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
