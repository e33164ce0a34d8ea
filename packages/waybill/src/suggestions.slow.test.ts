/// <reference types="node" />
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIVE_COMMAND } from "./completion/shells.ts";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev } from "./waybill-fixture.ts";

const COMMAND = fileURLToPath(new URL("waybill.ts", import.meta.url));
/** A shell that expands or executes one of these creates a file. */
const HOSTILE = [
  "web_$(touch ran)",
  "web_`touch ran`",
  "web_;touch ran",
  "web_research\ntouch ran",
];

let place: Workplace;
let dev: Dev;
let line: ConnectedHub;
let agent: Agent;
let open: string;
let lost: string;

beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  line = await connect(dev.url);
  agent = createAgent({ id: "research-agent", key: generateKey(), hub: line });
  agent.serve("web_research", () => new Promise<never>(() => undefined));
  for (const name of HOSTILE) {
    try {
      agent.serve(name, () => null);
    } catch {
      // The hub refuses it, so it never appears in a completion.
    }
  }
  await agent.start();
  open = (await place.jsonLines(["send", "web_research", "1", "--detach"]))[0]![
    "handoff_id"
  ] as string;
  await place.run(["groups", "add", "partners", "research-agent"]);
  const away = createAgent({ id: "absent-agent", key: generateKey(), hub: line });
  away.serve("absent", () => null);
  await away.start();
  await away.stop();
  const ended = await place.jsonLines(["send", "absent", "1", "--timeout", "1s"]);
  lost = ended.at(-1)!["handoff_id"] as string;
  mkdirSync(place.path("bin"));
  writeFileSync(
    place.path("bin", "waybill"),
    `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const script = (shell: string) => place.run(["completion", shell]);
  writeFileSync(place.path("waybill.bash"), (await script("bash")).stdout);
  writeFileSync(place.path("_waybill"), (await script("zsh")).stdout);
  writeFileSync(place.path("waybill.fish"), (await script("fish")).stdout);
});
afterAll(async () => {
  await agent.stop({ mode: "release" });
  await line.close();
  await place.close();
});

/** An id with its last digit changed. */
function near(id: string): string {
  return id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");
}

describe("the similar name is suggested", () => {
  test.each<[string, () => readonly string[], () => string, number]>([
    ["a capability, by find", () => ["find", "web_reserch"], () => "web_research", 4],
    ["a capability, by send", () => ["send", "web_reserch", "1"], () => "web_research", 4],
    ["an agent, by agents", () => ["agents", "reserch-agent"], () => "research-agent", 4],
    [
      "an agent, by send",
      () => ["send", "web_research", "1", "--to", "reserch-agent"],
      () => "research-agent",
      4,
    ],
    ["an open handoff, by trace", () => ["trace", near(open)], () => open, 4],
    ["a dead letter", () => ["dead-letters", "show", near(lost)], () => lost, 4],
  ])("%s", async (_, words, meant, code) => {
    const ran = await place.run(words());
    expect(ran.stdout + ran.stderr).toContain(`Did you mean ${meant()}?`);
    expect(ran.code).toBe(code);
  });

  test("except to callers who may not see it", async () => {
    const closed = new Workplace();
    const started = closed.start(["hub", "--port", "0", "--json"], {
      WAYBILL_OPEN_REGISTRY: "false",
    });
    const { url } = JSON.parse(await started.line()) as { url: string };
    const hub = await connect(url);
    const hidden = createAgent({ id: "hidden-agent", key: generateKey(), hub });
    hidden.serve("hidden_work", () => null);
    await hidden.start();
    const stranger = new Workplace();
    const asked = await stranger.runAll([
      ["find", "hidden_wok", "--hub", url],
      ["agents", "hiden-agent", "--hub", url],
      [LIVE_COMMAND, "agents", "--hub", url],
      [LIVE_COMMAND, "capabilities", "--hub", url],
    ]);
    for (const { stdout, stderr } of asked)
      expect(stdout + stderr).not.toMatch(/hidden[-_](agent|work)/);
    const own = await closed.run(["agents", "hiden-agent"]);
    expect(own.stderr).toContain("Did you mean hidden-agent?");
    await hidden.stop();
    await hub.close();
    await Promise.all([closed.close(), stranger.close()]);
  });
});

const SHELLS: Readonly<Record<string, (line: string, folder: string) => string[]>> = {
  bash(typed, folder) {
    const words = typed.split(" ");
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const script = `source waybill.bash; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _waybill; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return said("bash", ["--noprofile", "--norc", "-c", script], folder);
  },
  fish(typed, folder) {
    return said(
      "fish",
      ["--no-config", "-c", `source waybill.fish; complete -C '${typed}'`],
      folder,
    ).map((each) => each.split("\t")[0]!);
  },
  zsh(typed, folder) {
    const script = `
      zmodload zsh/zpty; zpty z zsh -f -i
      zpty -w z "PROMPT=; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump"
      zpty -w z "compadd () { local -a got; builtin compadd -A got \\"\\$@\\"; print -rl -- \\"<\\$^got[@]>\\"; builtin compadd \\"\\$@\\"; }"
      zpty -w z "completed () { zle complete-word; print COMPLE''TED; }; zle -N completed; bindkey '^I' completed"
      zpty -w z "zle-line-init () { print EDI''TING; }; zle -N zle-line-init"; zpty -r z out '*EDITING*'
      zpty -w -n z "${typed}"$'\\t'; zpty -r z out '*COMPLETED*'; print -r -- "$out"; zpty -d z`;
    const out = said("zsh", ["-f", "-c", script], folder).join("\n");
    return [...new Set([...out.matchAll(/<([^<>\n]+)>/g)].map(([, word]) => word!))];
  },
};

function said(program: string, args: readonly string[], folder: string): string[] {
  const { WAYBILL_HUB: _hub, ...env } = process.env;
  const printed = execFileSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...env, PATH: `${place.path("bin")}:${process.env["PATH"]}` },
  });
  return printed.split("\n").filter((each) => each !== "");
}

for (const [shell, complete] of Object.entries(SHELLS)) {
  const isThere = spawnSync(shell, ["-c", "true"]).status === 0;
  describe.skipIf(!isThere)(
    `Tab in ${shell}${isThere ? "" : ` (skipped: no ${shell} on this machine)`}`,
    () => {
      test.each<[string, () => readonly string[]]>([
        ["waybill send web_", () => ["web_research"]],
        ["waybill --json find web", () => ["web_research"]],
        ["waybill agents res", () => ["research-agent"]],
        ["waybill send x --to re", () => ["research-agent"]],
        ["waybill groups list pa", () => ["partners"]],
        ["waybill groups add partners re", () => ["research-agent"]],
        ["waybill groups quota pa", () => ["partners"]],
        ["waybill trace 0", () => [open]],
        ["waybill dead-letters show 0", () => [lost]],
      ])("%j", (typed, expected) => {
        expect(complete(typed, place.folder).toSorted()).toEqual(expected());
        expect(existsSync(place.path("ran"))).toBe(false);
      });

      test("prints nothing if no hub runs", () => {
        const folder = place.path(`empty-${shell}`);
        mkdirSync(folder);
        for (const name of ["waybill.bash", "_waybill", "waybill.fish"]) {
          symlinkSync(place.path(name), `${folder}/${name}`);
        }
        expect(complete("waybill send web_", folder)).toEqual([]);
      });
    },
  );
}
