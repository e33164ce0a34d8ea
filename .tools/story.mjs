// The story in the README of the `waybill` command, run with the packed packages: its commands in
// order, and two agents, one of which has only a shell, curl and openssl.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { Program, Shell } from "./programs.mjs";
import { inTerminal, lasting, leftOnScreen, outputsIn } from "./shown.mjs";

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;

/** The typed commands of a text: in its `text` blocks, after `$ `. */
export function typedIn(markdown) {
  return [...markdown.matchAll(/^```text\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
    [...block.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line),
  );
}

/** The shell code in each numbered section of a page. */
export function sectionsOf(page) {
  return page
    .split(/^## /m)
    .map((section) => [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code));
}

const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

/** A command in a terminal, with what remains on the screen. It is stopped by typing Ctrl-C. */
class Seen extends Program {
  get screen() {
    return leftOnScreen(this.said);
  }

  ends(signal) {
    if (signal === "SIGINT") this.child.stdin.write("\u0003");
    else this.child.kill(signal);
    return this.ended;
  }
}

/** The differences between the documented and the actual output of commands. */
export function differences(story, printed) {
  return outputsIn(story)
    .filter(({ command }) => printed.has(command))
    .map(({ command, output }) => ({ command, output, printed: printed.get(command) }))
    .filter(({ output, printed: now }) => lasting(output) !== lasting(now));
}

/**
 * Runs the story in a folder in which the packages are installed. Returns the number of its commands,
 * and the output of those of `waybill`; no output on a machine without `script`, which provides a
 * terminal.
 */
export async function liveThrough({ story, agent, cwd, env }) {
  const printed = new Map();
  /** This run's ids, with the documented ids in their place. */
  const shownIds = new Map();
  const typed = typedIn(story);
  const all = typed.length;
  const running = [];
  const isSeen = (command) => hasTerminal && command.startsWith("waybill ");
  const start = (command, Kind = isSeen(command) ? Seen : Program, folder = cwd) => {
    const line = Kind === Seen ? inTerminal(command) : command;
    const program = new Kind(`exec ${line}`, { cwd: folder, env: { ...env, NO_COLOR: "1" } });
    running.push(program);
    return program;
  };
  /** The next command of the story, with this run's handoff. */
  const next = (what, id = "") => {
    const command = typed.shift() ?? "";
    assert.match(command, what, "the story goes on in another way");
    const [shown] = ID.exec(command) ?? [];
    if (shown !== undefined) shownIds.set(id, shown);
    return command.replace(ID, id);
  };
  /** Records the output of the last command taken from the story. */
  const keep = (command, { screen }) => {
    if (screen === undefined) return;
    const { port = "" } = url === undefined ? {} : new URL(url);
    printed.set(command, screen.replaceAll(cwd, "/tmp/story").replaceAll(`:${port}`, ":7411"));
  };
  let url;
  /** Runs the next command to its end. */
  const run = async (what, expected, { id, code = 0 } = {}) => {
    const [command] = typed;
    const program = start(next(what, id));
    assert.equal(await program.ended, code, program.said);
    keep(command, program);
    assert.match(program.said, expected);
    return program.said;
  };
  const startAnna = async (command) => {
    const anna = start(command);
    await anna.says(/anna is ready/);
    return anna;
  };

  try {
    // The documented port may be in use on this machine.
    const dev = start(`${next(/^waybill dev$/)} --port 0`);
    await dev.says(/waybill watch/);
    const banner = { screen: dev.screen };

    writeFileSync(join(cwd, "agent.mts"), agent);
    const comeAnna = next(/^node agent\.mts anna$/);
    let anna = await startAnna(comeAnna);
    url = readFileSync(join(cwd, ".waybill/hub.url"), "utf8").trim();
    keep("waybill dev", banner);
    const page = sectionsOf(await (await fetch(`${url}/skill.md`)).text());
    mkdirSync(join(cwd, "bert"));
    const bert = start("sh -eu", Shell, join(cwd, "bert"));
    await bert.types(page[1][0]);
    await bert.types(next(/^AGENT=bert$/));
    for (const code of [...page[2], ...page[3], ...page[4], page[5][0]]) await bert.types(code);

    assert.match(await bert.types(next(/^again ask GET/)), /"fits":\[\{"agent_id":"anna"/);
    await run(/^waybill find web_research$/, /anna[\s\S]*web_research/);

    const [watching] = typed;
    const watch = start(next(/^waybill watch/));
    const handOff = page[6][0]
      .replaceAll('"shout"', '"web_research"')
      .replace('"hello from curl"', '{"topic":"waybills"}');
    assert.match(await bert.types(handOff), /"receipt":/);
    await watch.says(/anna +25 % reading/);
    await anna.ends("SIGKILL");
    anna = await startAnna(comeAnna);
    assert.match(await bert.types(page[6][1]), /"summary":"all about waybills"/);
    await watch.says(/bert +acknowledges it/);
    keep(watching, watch);
    const [killed] = ID.exec(await bert.types('echo "$HANDOFF"'));

    await anna.ends("SIGTERM");
    await run(/^waybill send web_research .* --timeout 3s$/, /504 DEADLINE_EXCEEDED/, { code: 7 });
    const [id] = ID.exec(await run(/^waybill dead-letters list$/, /504 DEADLINE_EXCEEDED/));
    await startAnna(comeAnna);
    await run(/^waybill dead-letters replay/, /all about bills of lading/, { id });
    await run(/^waybill trace/, /offers attempt 2[\s\S]*bert +acknowledges it/, { id: killed });
    const told = await run(/^waybill trace/, /All \d+ signatures are valid/, { id });
    assert.match(told, new RegExp(`dead-lettered [\\s\\S]*completed [\\s\\S]*replays ${id}`));
    assert.equal(await dev.ends("SIGINT"), 0);
    assert.deepEqual(typed, [], "the story has more to it");
  } finally {
    for (const each of running) await each.ends("SIGKILL");
  }
  for (const [command, output] of printed) {
    const named = [...shownIds].reduce((text, [id, shown]) => text.replaceAll(id, shown), output);
    printed.set(command, named);
  }
  return { count: all, printed };
}
