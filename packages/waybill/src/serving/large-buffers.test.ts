/// <reference types="node" />
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const COMMAND = fileURLToPath(new URL("../waybill.ts", import.meta.url));
const SETTING = "MALLOC_MMAP_THRESHOLD_";

/** The value of the setting in a hub's process, which is the one that was started. */
async function settingOfHub(given: string | undefined): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-buffers-"));
  const env = { ...process.env, [SETTING]: given };
  const args = [COMMAND, "hub", "--data", folder, "--port", "0", "--json"];
  const hub = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    await once(createInterface(hub.stdout), "line");
    const variables = readFileSync(`/proc/${hub.pid}/environ`, "utf8").split("\0");
    const found = variables.find((each) => each.startsWith(`${SETTING}=`));
    return found?.slice(SETTING.length + 1);
  } finally {
    hub.kill("SIGKILL");
    await once(hub, "close");
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a hub's process gives large buffers back to the system, unless its user has set that otherwise", async ({
  skip,
}) => {
  skip(process.platform !== "linux", "only glibc has this setting");
  skip(process.execve === undefined, "this version of Node can't replace its process");
  expect(await settingOfHub(undefined)).toBe(String(128 * 1024));
  expect(await settingOfHub("65536")).toBe("65536");
}, 60_000);
