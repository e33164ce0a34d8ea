/// <reference types="node" />
import { realpathSync } from "node:fs";
import { dirname, relative } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { operatorTokenDomain } from "@waybill/protocol/wire";
import type { Origin, Settings } from "../settings/settings.ts";

/** The hub to call, and how it was found. */
export interface WhichHub {
  readonly url: string;
  readonly from: string;
}

/**
 * The hub that the settings name. There is no fallback: another hub on this machine may belong to
 * somebody else.
 */
export function whichHub(settings: Settings): WhichHub {
  const { values, origins } = settings;
  if (values.hub === undefined) {
    throw new WaybillError(
      503,
      `No hub runs in the data folder ${values.data} (no address: ${origins.hub.name}). Start one with "waybill dev" in this folder, or name another hub with --hub, WAYBILL_HUB, or hub in waybill.json.`,
    );
  }
  const misled = misledBy(settings);
  if (misled !== undefined) {
    const { file } = settings;
    throw new WaybillError(
      403,
      `${file} names the hub ${values.hub}, but ${misled} from elsewhere. A settings file that was only found in this folder can't choose the hub for them. To use that hub anyway: --hub ${values.hub}, or --config ${file}.`,
    );
  }
  return { url: values.hub, from: fromText(origins.hub, "hub") };
}

/**
 * If the address comes from the data folder, the hub must have that folder's custody domain: another
 * hub may use the address by now.
 */
export function domainOfFolder({ values, origins }: Settings): string | undefined {
  const isOfFolder = origins.hub.source === "default" && origins.token.source === "default";
  return isOfFolder && values.token !== undefined ? operatorTokenDomain(values.token) : undefined;
}

export function fromText({ source, name }: Origin, setting: string): string {
  return source === "file" ? `${setting} in ${name}` : name;
}

/** The settings with which a file that nobody named would send data to a hub of its choice. */
function misledBy({ origins, file, isFileNamed, values }: Settings): string | undefined {
  if (origins.hub.source !== "file" || isFileNamed || file === undefined) return undefined;
  const { token, data } = origins;
  if (token.source === "flag" || token.source === "environment") {
    return `the operator token comes (${token.name})`;
  }
  if (token.source === "file") return undefined;
  if (data.source === "flag" || data.source === "environment" || !isWithin(file, values.data)) {
    return `the data folder ${values.data} comes (${data.source === "default" ? "by a link" : data.name})`;
  }
  return undefined;
}

/** Whether a folder lies in or below a file's folder, after resolving links. */
function isWithin(file: string, folder: string): boolean {
  const way = relative(realPath(dirname(file)), realPath(folder));
  return way !== ".." && !way.startsWith("../") && !way.startsWith("..\\");
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
