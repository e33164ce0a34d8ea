import { isFailure, STATUS } from "@waybill/protocol";
import type { Retry, StatusCode } from "@waybill/protocol";
import { page, table } from "./markdown.ts";

/** The meaning of the column "retry" for the sender of a handoff. */
export const RETRY_MEANING: Readonly<Record<Retry, string>> = {
  none: "there is nothing to try again",
  never: "the same again will not succeed",
  yes: "the same again may succeed",
  later: "the same again may succeed, after a while",
  elsewhere: "another recipient may do it",
  renegotiate: "with other terms",
  possible: "the same again may succeed, but the first try may have had effects",
  per_flag: "as `retryable` of the error says; not without it",
  once: "one more try",
};

export function statusPage(): string {
  const codes = Object.keys(STATUS).map(Number) as StatusCode[];
  return page(
    "# Status codes",
    "Generated from the code. Every status there is; a reader that meets another one refuses it with 400. Statuses of 400 and above are failures.",
    table(
      ["Code", "Name", "Meaning", "Retry"],
      codes.map((code) => {
        const { name, meaning, retry } = STATUS[code];
        return [`[${code}](#${code})`, name, meaning, retry];
      }),
    ),
    table(
      ["Retry", "What it means"],
      Object.entries(RETRY_MEANING).map(([retry, meaning]) => [retry, meaning]),
    ),
    ...codes.map(section),
  );
}

function section(code: StatusCode): string {
  const { name, meaning, retry, remedy } = STATUS[code];
  return [
    `<a id="${code}"></a>`,
    `## ${code} ${name}`,
    meaning,
    `**${isFailure(code) ? "A failure" : "No failure"}. Retry:** ${retry}, ${RETRY_MEANING[retry]}.`,
    `**What to do:** ${remedy}`,
  ].join("\n\n");
}
