/// <reference types="node" />
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../command-line/commands.ts";
import { bashCompletion } from "./bash.ts";
import { fishCompletion } from "./fish.ts";
import { placesOf } from "./words.ts";
import { zshCompletion } from "./zsh.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-completion-"));
  writeFileSync(join(folder, "ledger.ndjson"), "");
  const places = placesOf(COMMANDS);
  writeFileSync(join(folder, "waybill.bash"), bashCompletion(places));
  writeFileSync(join(folder, "_waybill"), zshCompletion(places));
  writeFileSync(join(folder, "waybill.fish"), fishCompletion(places));
});
afterAll(() => rmSync(folder, { recursive: true }));

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ["waybill le", ["ledger"]],
  ["waybill ledger ", ["checkpoint", "export", "verify"]],
  ["waybill ledger verify --chec", ["--checkpoint"]],
  ["waybill ledger verify led", ["ledger.ndjson"]],
  ["waybill ledger verify --checkpoint led", ["ledger.ndjson"]],
  ["waybill send --json web_research --time", ["--timeout"]],
  ["waybill completion ", ["bash", "fish", "zsh"]],
  ["waybill dead-letters re", ["replay"]],
];

const SHELLS: Readonly<Record<string, (line: string) => string[]>> = {
  bash(line) {
    const words = line.split(" ");
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const script = `source waybill.bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _waybill; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return said("bash", ["--noprofile", "--norc", "-c", script]);
  },
  fish(line) {
    return said("fish", ["--no-config", "-c", `source waybill.fish; complete -C '${line}'`]).map(
      (each) => each.split("\t")[0]!,
    );
  },
  // zsh completes only at a terminal, so it runs in a pseudo-terminal. Input that arrives before
  // zsh's line editor runs goes to the terminal driver, which interprets ^U and Tab itself. The line
  // editor therefore prints markers when it starts and when it has completed, which differ from
  // anything typed.
  zsh(line) {
    const script = `
      zmodload zsh/zpty; zpty z zsh -f -i
      zpty -w z "PROMPT=; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump"
      zpty -w z "compadd () { local -a got; builtin compadd -A got \\"\\$@\\"; print -rl -- \\"<\\$^got[@]>\\"; builtin compadd \\"\\$@\\"; }"
      zpty -w z "completed () { zle complete-word; print COMPLE''TED; }; zle -N completed; bindkey '^I' completed"
      zpty -w z "zle-line-init () { print EDI''TING; }; zle -N zle-line-init"; zpty -r z out '*EDITING*'
      zpty -w -n z "${line}"$'\\t'; zpty -r z out '*COMPLETED*'; print -r -- "$out"; zpty -d z`;
    const out = said("zsh", ["-f", "-c", script]).join("\n");
    return [...new Set([...out.matchAll(/<([^<>\n]+)>/g)].map(([, word]) => word!))];
  },
};

function said(program: string, args: readonly string[]): string[] {
  const printed = execFileSync(program, args, { cwd: folder, encoding: "utf8", timeout: 30_000 });
  return printed.split("\n").filter((line) => line !== "");
}

for (const [shell, complete] of Object.entries(SHELLS)) {
  const isThere = spawnSync(shell, ["-c", "true"]).status === 0;
  describe.skipIf(!isThere)(
    `${shell}${isThere ? "" : ` (skipped: no ${shell} on this machine)`}`,
    () => {
      test.each(CASES)("%j", (line, expected) => {
        expect(complete(line).toSorted()).toEqual(expected);
      });
    },
  );
}
