/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { PYTHON, testWithAutogen } from "./python-fixture.ts";

const exampleOf = (name: string) => fileURLToPath(new URL(`../examples/${name}`, import.meta.url));

function start(command: string, ...args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const EXAMPLES = [
  { host: "office.ts", worker: "clerk.py", says: ["{ text: 'filed: a letter, says he' }"] },
  { host: "desk.ts", worker: "adviser.py", says: ["Which day?", "Take the ferry at six."] },
];

for (const { host, worker, says } of EXAMPLES) {
  testWithAutogen(`the example ${host} prints its documented output`, async () => {
    const office = start(process.execPath, exampleOf(host), "0");
    const said: string[] = [];
    for await (const line of createInterface({ input: office.stdout! })) {
      const [command = "", address = ""] = line.split(` ${worker} `);
      if (command !== "python3") said.push(line);
      else start(PYTHON!, exampleOf(worker), address);
    }
    expect(said).toEqual(says);
  });
}
