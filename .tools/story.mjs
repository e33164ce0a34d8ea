// The story that the README of the `waybill` command tells, lived through with what is packed: the
// commands that stand there, in their order, and two agents of which one has only a shell, curl and openssl.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Program, Shell } from "./programs.mjs";

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;

/** What is typed in a text: in its `text` blocks, after `$ `. */
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

/** Lives through it in a folder where the packages are installed. Returns how many commands it has. */
export async function liveThrough({ story, agent, cwd, env }) {
  const typed = typedIn(story);
  const all = typed.length;
  const running = [];
  const start = (command, Kind = Program, folder = cwd) => {
    const program = new Kind(`exec ${command}`, { cwd: folder, env });
    running.push(program);
    return program;
  };
  /** The next command of the story, about the handoff of this time. */
  const next = (what, id = "") => {
    const command = typed.shift() ?? "";
    assert.match(command, what, "the story goes on in another way");
    return command.replace(ID, id);
  };
  /** Runs the next command to its end. */
  const run = async (what, expected, { id, code = 0 } = {}) => {
    const program = start(next(what, id));
    assert.equal(await program.ended, code, program.said);
    assert.match(program.said, expected);
    return program.said;
  };
  const startAnna = async (command) => {
    const anna = start(command);
    await anna.says(/anna is ready/);
    return anna;
  };

  try {
    // The port that stands there may be another's on this machine.
    const dev = start(`${next(/^waybill dev$/)} --port 0`);
    await dev.says(/waybill watch/);

    writeFileSync(join(cwd, "agent.ts"), agent);
    const comeAnna = next(/^node agent\.ts anna$/);
    let anna = await startAnna(comeAnna);
    const url = readFileSync(join(cwd, ".waybill/hub.url"), "utf8").trim();
    const page = sectionsOf(await (await fetch(`${url}/skill.md`)).text());
    mkdirSync(join(cwd, "bert"));
    const bert = start("sh -eu", Shell, join(cwd, "bert"));
    await bert.types(page[1][0]);
    await bert.types(next(/^AGENT=bert$/));
    for (const code of [...page[2], ...page[3], ...page[4], page[5][0]]) await bert.types(code);

    assert.match(await bert.types(next(/^again ask GET/)), /"fits":\[\{"agent_id":"anna"/);
    await run(/^waybill find web_research$/, /anna +web_research/);

    const watch = start(next(/^waybill watch/));
    const handOff = page[6][0]
      .replaceAll('"shout"', '"web_research"')
      .replace('"hello from curl"', '{"topic":"waybills"}');
    assert.match(await bert.types(handOff), /"receipt":/);
    await watch.says(/anna +25 % reading/);
    await anna.ends("SIGKILL");
    anna = await startAnna(comeAnna);
    assert.match(await bert.types(page[6][1]), /"summary":"all about waybills"/);
    const [killed] = ID.exec(await bert.types('echo "$HANDOFF"'));

    await anna.ends("SIGTERM");
    await run(/^waybill send web_research .* --timeout 3s$/, /504 DEADLINE_EXCEEDED/, { code: 7 });
    const [id] = ID.exec(await run(/^waybill dead-letters list$/, /504 DEADLINE_EXCEEDED/));
    await startAnna(comeAnna);
    await run(/^waybill dead-letters replay/, /all about bills of lading/, { id });
    await run(/^waybill trace/, /offers attempt 2[\s\S]*bert +acknowledges it/, { id: killed });
    const told = await run(/^waybill trace/, /All \d+ signatures hold/, { id });
    assert.match(told, new RegExp(`dead-lettered [\\s\\S]*completed [\\s\\S]*replays ${id}`));
    assert.equal(await dev.ends("SIGINT"), 0);
    assert.deepEqual(typed, [], "the story has more to it");
  } finally {
    for (const each of running) await each.ends("SIGKILL");
  }
  return all;
}
