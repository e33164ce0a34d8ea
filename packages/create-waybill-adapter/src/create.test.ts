/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { createAdapter } from "./create.ts";

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "create-waybill-adapter-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A small template with everything that is renamed. */
function template(): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, "_package.json"), '{ "name": "@waybill/adapter-echo" }');
  writeFileSync(join(folder, "_gitignore"), "dist/\n");
  writeFileSync(join(folder, "echo.ts"), "export class Echo {}\n");
  return folder;
}

test("the template is copied under the framework's name", async () => {
  const folder = join(emptyFolder(), "new");
  const created = await createAdapter({ name: "acme", folder, template: template() });
  expect(created).toEqual({
    folder,
    packageName: "waybill-adapter-acme",
    files: [".gitignore", "acme.ts", "package.json"],
  });
  expect(readFileSync(join(folder, "acme.ts"), "utf8")).toBe("export class Acme {}\n");
  expect(readFileSync(join(folder, "package.json"), "utf8")).toContain("waybill-adapter-acme");
});

test("existing files are not overwritten", async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "mine.txt"), "mine");
  const creating = createAdapter({ name: "acme", folder, template: template() });
  await expect(creating).rejects.toThrow(/is not empty/);
});

test("an invalid name is refused, and a missing one gets the usage", async () => {
  await expect(createAdapter({ name: "../up", template: template() })).rejects.toThrow(
    /lower case/,
  );
  const bin = join(import.meta.dirname, "bin.ts");
  const run =
    (...args: string[]) =>
    () =>
      execFileSync(process.execPath, [bin, ...args], { encoding: "utf8", stdio: "pipe" });
  expect(run()).toThrow(expect.objectContaining({ status: 2 }));
  expect(run("Not-A-Name")).toThrow(
    expect.objectContaining({ status: 1, stderr: expect.stringMatching(/lower case/) }),
  );
});
