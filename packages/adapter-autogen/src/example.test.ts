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

testWithAutogen("the example of the README prints its documented output", async () => {
  const office = start(process.execPath, exampleOf("office.ts"), "0");
  const said: string[] = [];
  for await (const line of createInterface({ input: office.stdout! })) {
    const address = /^python3 clerk.py (.+)$/.exec(line)?.[1];
    if (address === undefined) said.push(line);
    else start(PYTHON!, exampleOf("clerk.py"), address);
  }
  expect(said).toEqual(["{ text: 'filed: a letter, says he' }"]);
});
