// OpenClaw brings 650 MB, so it is no part of the workspace: what is tested with it is installed here,
// from a lock file of its own, by whoever asks for it.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const cwd = fileURLToPath(new URL(".", import.meta.url));
const args = ["install", "--config.minimum-release-age=0", "--frozen-lockfile", "--prefer-offline"];
// What is installed is no answer to whoever reads the output of the program that asks for it.
const { status } = spawnSync("pnpm", args, { stdio: ["ignore", process.stderr, "inherit"], cwd });
if (status !== 0) process.exit(status ?? 1);
