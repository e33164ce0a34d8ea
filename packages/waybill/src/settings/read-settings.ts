/// <reference types="node" />
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isForeign, readOwn } from "@waybill/agent/connect";
import { parseJson, WaybillError } from "@waybill/protocol";
import { unreadable } from "../files/read-text.ts";
import { resolveSettings } from "./settings.ts";
import type { Settings, SettingsInput } from "./settings.ts";

const CONFIG_FILE = "waybill.json";

/** Reads the settings of this process. */
export function readSettings(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = process.cwd(),
): Settings {
  const named = flags["config"] ?? (environment["WAYBILL_CONFIG"] || undefined);
  const file = readConfig(named as string | undefined, folder);
  return resolveSettings({ flags, environment, file, folder, readData: readOwn });
}

function readConfig(named: string | undefined, folder: string): SettingsInput["file"] {
  const path = named === undefined ? join(folder, CONFIG_FILE) : resolve(folder, named);
  if (named === undefined && !existsSync(path)) return undefined;
  if (named === undefined && isForeign(statSync(path).uid)) {
    throw new WaybillError(
      403,
      `${path} belongs to another user, so it is not read by default. To use it anyway: --config ${path}`,
    );
  }
  const members = parsed(path);
  if (typeof members !== "object" || members === null || Array.isArray(members)) {
    throw new WaybillError(400, `${path} must be a JSON object of settings. Correct it.`);
  }
  return { path, isNamed: named !== undefined, members: members as Record<string, unknown> };
}

function parsed(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw unreadable(path, cause);
  }
  try {
    return parseJson(text);
  } catch (cause) {
    throw new WaybillError(
      400,
      `The configuration file ${path} is not valid JSON: ${(cause as Error).message}`,
      { cause },
    );
  }
}
