/// <reference types="node" />
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Settings } from "../settings/settings.ts";
import { DATA_FILES, databaseFiles, isOpenToOthers } from "../serving/data-folder.ts";
import { counted } from "../terminal/text.ts";
import { ok, skipped, warning, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

const NODE_AT_LEAST = [22, 13] as const;
const SPACE_LOW_BYTES = 512 * 1024 * 1024;

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough =
    major > NODE_AT_LEAST[0] || (major === NODE_AT_LEAST[0] && minor >= NODE_AT_LEAST[1]);
  return isEnough
    ? ok("Node", version)
    : wrong("Node", `${version} is too old.`, `Install Node ${NODE_AT_LEAST.join(".")} or newer.`);
}

export function checkFolder({ values: { data, database } }: Settings): Finding {
  if (!existsSync(data)) {
    return skipped("folder", `${data} does not exist yet; waybill dev creates it.`);
  }
  try {
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return wrong("folder", `This user may not write to ${data}.`, `Run: chown -R $USER ${data}`);
  }
  const blobs = `${database}-blobs`;
  const folders = [...new Set([data, dirname(database), blobs])].filter((path) => existsSync(path));
  const own = new Set([data, blobs]);
  // If the database lies elsewhere, other files in its folder are not the hub's.
  const open = folders.filter((path) => isOpenToOthers(path, own.has(path) ? ANY : WRITING));
  if (open.length > 0) {
    return wrong(
      "folder",
      `Others may read or write in ${open.join(", ")}.`,
      `Run: chmod ${own.has(open[0]!) ? "700" : "go-w"} ${open.join(" ")}`,
    );
  }
  const above = folders.map(replacedBy).find((each) => each !== undefined);
  if (above !== undefined) return above;
  const space = statfsSync(data);
  const freeBytes = space.bavail * space.bsize;
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`;
  return freeBytes < SPACE_LOW_BYTES
    ? warning(
        "folder",
        `${data}, only ${free}.`,
        "Free some space: a hub on a full disk accepts no more work.",
      )
    : ok("folder", `${data}, ${free}`);
}

const ANY = 0o077;
const WRITING = 0o022;
const STICKY = 0o1000;
const BY_GROUP = 0o020;
const BY_ALL = 0o002;

/** Anyone who may write to a folder above this one can replace it. */
function replacedBy(folder: string): Finding | undefined {
  if (process.platform === "win32") return undefined;
  const real = realpathSync(folder);
  for (let path = dirname(real); ; path = dirname(path)) {
    const { mode } = statSync(path);
    const isHeld = (mode & STICKY) !== 0;
    const says = (who: string) =>
      `${who} can replace the folder ${folder}: they may write to ${path}.`;
    if (!isHeld && (mode & BY_ALL) !== 0) {
      return wrong(
        "folder",
        says("Others"),
        `Run: chmod o-w ${path}, or keep the hub elsewhere with --data.`,
      );
    }
    if (!isHeld && (mode & BY_GROUP) !== 0) {
      return warning(
        "folder",
        says("The members of a group"),
        `If you do not trust all of them, run: chmod g-w ${path}`,
      );
    }
    if (path === dirname(path)) return undefined;
  }
}

/**
 * Access to one of these files allows reading handed-off work, signing as the hub or the operator, or
 * giving orders to the hub.
 */
export function checkSecrets({ values, file, origins }: Settings): Finding {
  const isInFile = (["token", "metrics_token"] as const).some(
    (name) => origins[name].source === "file",
  );
  const secrets = [
    ...filesIn(values.data),
    ...databaseFiles(values.database),
    values.key,
    ...(values.tls_key === undefined ? [] : [values.tls_key]),
    ...(file !== undefined && isInFile ? [file] : []),
  ].filter((path) => existsSync(path));
  const all = [...new Set(secrets)];
  const links = [DATA_FILES.url, DATA_FILES.operatorToken]
    .map((name) => join(values.data, name))
    .filter((path) => all.includes(path) && lstatSync(path).isSymbolicLink());
  if (links.length > 0) {
    return wrong(
      "secrets",
      `A symbolic link is not followed here: ${links.join(", ")}.`,
      "Remove it; the hub writes a file there when it starts.",
    );
  }
  const open = all.filter((path) => isOpenToOthers(path) === true);
  if (open.length > 0) {
    return wrong(
      "secrets",
      `Others may read or write ${open.join(", ")}.`,
      `Run: chmod 600 ${open.join(" ")}, and replace keys and tokens if others had access.`,
    );
  }
  return all.length === 0
    ? skipped("secrets", "No keys or tokens yet.")
    : ok("secrets", `${counted(all.length, "file")}, readable only by their owner`);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map(({ name }) => join(folder, name));
}
