/// <reference types="node" />
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../settings/settings.ts";
import { DATA_FILES, isReadByOthers } from "../serving/data-folder.ts";
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

export function checkFolder({ values: { data } }: Settings): Finding {
  if (!existsSync(data)) {
    return skipped("folder", `${data} is not there yet: the first waybill dev makes it.`);
  }
  try {
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return wrong("folder", `This user may not write to ${data}.`, `Run: chown -R $USER ${data}`);
  }
  const space = statfsSync(data);
  const freeBytes = space.bavail * space.bsize;
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`;
  return freeBytes < SPACE_LOW_BYTES
    ? warning(
        "folder",
        `${data}, only ${free}.`,
        "Free some space: a hub on a full disk takes nothing more.",
      )
    : ok("folder", `${data}, ${free}`);
}

/** Whoever reads one of these can sign as the hub or the operator, or give orders to the hub. */
export function checkSecrets({ values, file, origins }: Settings): Finding {
  const secrets = [
    ...[DATA_FILES.hubKey, DATA_FILES.operatorKey, DATA_FILES.operatorToken].map((name) =>
      join(values.data, name),
    ),
    values.key,
    ...(values.tls_key === undefined ? [] : [values.tls_key]),
    ...(file !== undefined && origins.token.source === "file" ? [file] : []),
  ].filter((path) => existsSync(path));
  const open = [...new Set(secrets)].filter((path) => isReadByOthers(path) === true);
  if (open.length > 0) {
    return wrong(
      "secrets",
      `Others may read ${open.join(", ")}.`,
      `Run: chmod 600 ${open.join(" ")}, and replace them if others had access.`,
    );
  }
  return secrets.length === 0
    ? skipped("secrets", "There are none yet.")
    : ok("secrets", `${new Set(secrets).size} files, for their owner alone`);
}
