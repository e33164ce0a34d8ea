/// <reference types="node" />
import { resolve } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { SETTINGS } from "./table.ts";
import type { SettingName, SettingSpec } from "./table.ts";
import { durationOf } from "../terminal/duration.ts";

type Value = string | number | boolean | readonly string[];
type Reader = (given: unknown, folder: string) => Value | string;

const SWITCH: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  false: false,
  "0": false,
};

/** Reads each kind of setting; returns undefined for an invalid value. */
const READERS: Readonly<Record<SettingSpec["kind"], { read: Reader; must: string }>> = {
  text: { must: "be a text", read: (given) => (isText(given) ? given : WRONG) },
  path: {
    must: "be the path of a file",
    read: (given, folder) => (isText(given) ? resolve(folder, given) : WRONG),
  },
  url: {
    must: "be a URL such as http://127.0.0.1:7411 or https://hub.example.org",
    read: (given) => (isText(given) && isHttp(given) ? given.replace(/\/+$/, "") : WRONG),
  },
  hub: {
    must: "be a URL such as https://hub.example.org, or unix: and the path of a hub's socket",
    read: (given, folder) => {
      if (!isText(given)) return WRONG;
      const [, path] = /^unix:(.+)$/.exec(given) ?? [];
      if (path !== undefined) return `unix:${resolve(folder, path.replace(/^\/+/, "/"))}`;
      return isHttp(given) ? given.replace(/\/+$/, "") : WRONG;
    },
  },
  port: {
    must: "be a port from 0 to 65535",
    read: (given) => {
      const port = typeof given === "string" && /^\d{1,5}$/.test(given) ? Number(given) : given;
      const isPort = Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
      return isPort ? (port as number) : WRONG;
    },
  },
  size: {
    must: "be a size such as 500MB, 20GB or 1.5TiB",
    read: (given) => sizeOf(given) ?? WRONG,
  },
  time: {
    must: "be a time such as 90m, 12h or 30d",
    read: (given) => (isText(given) ? (durationOf(given) ?? WRONG) : WRONG),
  },
  switch: {
    must: "be true or false",
    read: (given) => (typeof given === "boolean" ? given : (SWITCH[given as string] ?? WRONG)),
  },
  list: {
    must: "be a list of names",
    read: (given) => {
      const list = typeof given === "string" ? given.split(",").map((each) => each.trim()) : given;
      return Array.isArray(list) && list.every(isText) ? list : WRONG;
    },
  },
};

const WRONG = "\0";

/**
 * Reads the value of a setting; `from` is its source, for the error message. Paths are relative to
 * `folder`.
 */
export function settingValue(
  name: SettingName,
  given: unknown,
  from: string,
  folder: string,
): Value {
  const { kind, isSecret } = SETTINGS[name];
  const { read, must } = READERS[kind];
  const value = read(given, folder);
  if (value !== WRONG) return value;
  const shown = isSecret === true ? "something else" : JSON.stringify(given);
  throw new WaybillError(400, `${from} must ${must}, but it is ${shown}. Correct it.`);
}

const SIZES: readonly (readonly [unit: string, decimal: number, binary: number])[] = [
  ["K", 1e3, 2 ** 10],
  ["M", 1e6, 2 ** 20],
  ["G", 1e9, 2 ** 30],
  ["T", 1e12, 2 ** 40],
];

/** In bytes, also for a plain number. */
function sizeOf(given: unknown): number | undefined {
  const [, number, unit, binary] = /^(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B?$/.exec(String(given)) ?? [];
  if (number === undefined || (binary === "i" && unit === "")) return undefined;
  const [, decimal = 1, power = 1] = SIZES.find(([name]) => name === unit) ?? [];
  const bytes = Math.floor(Number(number) * (binary === "i" ? power : decimal));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function isHttp(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}
