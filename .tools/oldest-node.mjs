// Tests the packed packages on the oldest Node that `engines` allows: the examples, and the command
// with an agent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { run } from "./command.mjs";
import { root } from "./workspace.mjs";

const EXAMPLES = [
  "spec/examples/first.ts",
  "protocol/examples/first.ts",
  "agent/examples/first.ts",
  "agent/examples/declared.ts",
  "agent/examples/network.ts",
  "agent/examples/adapter.ts",
  "hub/examples/first.ts",
  "peering/examples/first.ts",
  "store-sqlite/examples/first.ts",
  "json-schema/examples/first.ts",
  "scripted-model/examples/first.ts",
  "langgraph-checkpoint-sqlite/examples/first.ts",
  "adapter-echo/examples/first.ts",
  "adapter-langgraph/examples/serve.ts",
  "adapter-conversation/examples/first.ts",
  "adapter-crew/examples/first.ts",
  "adapter-ai-sdk/examples/first.ts",
  "adapter-mastra/examples/first.ts",
  "adapter-openai-agents/examples/first.ts",
  "adapter-kaiban/with-kaibanjs/example.ts",
];

// Before 22.18, Node runs TypeScript only with these flags.
const AS_TYPESCRIPT = ["--experimental-strip-types", "--no-warnings"];

/** Runs them in a project in which everything is installed, beside an `import.mjs` of every entry point. */
export async function checkOldestNode(version, project, env) {
  const node = installed(version, join(project, "..", "oldest-node"), env);
  const PATH = [dirname(node), env.PATH].join(delimiter);
  // Without network, KaibanJS's telemetry ends the process, as its page says.
  const quiet = { ...env, PATH, KAIBAN_TELEMETRY_OPT_OUT: "1" };
  const outside = { cwd: join(project, "examples"), env: quiet };
  mkdirSync(outside.cwd);
  run(node, ["import.mjs"], { ...outside, cwd: project });
  for (const path of EXAMPLES) run(node, [...AS_TYPESCRIPT, copied(path, outside.cwd)], outside);
  await tryCommand(node, project, outside);
  return `all of them, ${EXAMPLES.length} examples and the command`;
}

/** Node itself is an npm package. */
function installed(version, folder, env) {
  mkdirSync(folder);
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder];
  run("npm", [...args, `node@${version}`], { cwd: folder, env });
  const node = join(folder, "node_modules/node/bin/node");
  const found = run(node, ["--version"], { cwd: folder, env }).trim();
  if (found !== `v${version}`) throw new Error(`Node ${version} was asked for, and is ${found}.`);
  return node;
}

/** Node resolves packages from a file's own folder. */
function copied(path, folder) {
  const copy = join(folder, path.replaceAll("/", "-"));
  copyFileSync(join(root, "packages", path), copy);
  return copy;
}

/** A hub with its database, an agent, and work for it, like the start of the command's README. */
async function tryCommand(node, project, { cwd, env }) {
  const waybill = join(project, "node_modules/.bin/waybill");
  const running = [];
  async function start(command, args, isReady) {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    running.push(child);
    for await (const line of createInterface({ input: child.stdout }))
      if (isReady(line)) return child;
    throw new Error(`${command} ${args.join(" ")} ended before it was ready.`);
  }
  try {
    const dev = await start(waybill, ["dev", "--port", "0", "--json"], (line) => line[0] === "{");
    const agent = copied("waybill/examples/agent.ts", cwd);
    const isReady = (line) => line === "anna is ready";
    await start(node, [...AS_TYPESCRIPT, agent, "anna"], isReady);
    const input = JSON.stringify({ topic: "tea" });
    const said = run(waybill, ["send", "web_research", input, "--json"], { cwd, env });
    if (!said.includes("all about tea")) throw new Error(`waybill send gave no result: ${said}`);
    dev.kill();
    await once(dev, "exit");
  } finally {
    for (const child of running) child.kill("SIGKILL");
  }
}
