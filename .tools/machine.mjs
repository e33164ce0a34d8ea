// The properties of this machine for which a test may be skipped. They are part of the tests' cache
// key, so that a skip is taken from the cache only where the test would be skipped again.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./workspace.mjs";

const PROGRAMS = {
  script: ["-qec", "true", "/dev/null"],
  strace: ["-f", "-o", "/dev/null", "true"],
  bash: ["-c", "true"],
  zsh: ["-c", "true"],
  fish: ["-c", "true"],
  openssl: ["version"],
  "redis-server": ["--version"],
};

const PLACES = {
  chromium: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
  autogen: join(root, "packages/python/.venvs/autogen-grpc/.waybill-setup"),
  vectors: join(root, "../shared/vectors"),
};

/** One line: the installed programs, the platform, and whether this user may read and write everything. */
export function machine() {
  const programs = Object.keys(PROGRAMS).filter(
    (program) => spawnSync(program, PROGRAMS[program], { timeout: 10_000 }).status === 0,
  );
  const places = Object.keys(PLACES).filter((name) => existsSync(PLACES[name]));
  const user = process.getuid?.() === 0 ? "root" : "user";
  return [process.platform, process.arch, user, ...programs, ...places].join(" ");
}
