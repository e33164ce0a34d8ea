/// <reference types="node" />
import { dirname, join } from "node:path";
import type { OwnFile } from "@waybill/agent/connect";
import { WaybillError } from "@waybill/protocol";
import { didYouMean } from "../command-line/nearest.ts";
import { DEFAULT_PORT, flagOf, SETTING_NAMES, SETTINGS, variableOf } from "./table.ts";
import type { SettingName, SettingValues } from "./table.ts";
import { isHttp, settingValue } from "./value.ts";

/** The sources of a value, in order of precedence. */
export const SOURCES = ["flag", "environment", "file", "default"] as const;
export type Source = (typeof SOURCES)[number];

export interface Origin {
  readonly source: Source;
  /** The name of the flag, variable or file. */
  readonly name: string;
}

export interface Settings {
  readonly values: SettingValues;
  readonly origins: Readonly<Record<SettingName, Origin>>;
  /** The configuration file, if there is one. */
  readonly file: string | undefined;
  /** False if it was found in the current folder. */
  readonly isFileNamed: boolean;
}

export interface SettingsInput {
  /** By the flag's name. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file:
    | {
        readonly path: string;
        /** By default it was found in the current folder. */
        readonly isNamed?: boolean;
        readonly members: Readonly<Record<string, unknown>>;
      }
    | undefined;
  readonly folder: string;
  /** Reads from the data folder: the address of the running hub, and its token. */
  readonly readData: (path: string) => OwnFile;
}

type Mutable<T> = { -readonly [Member in keyof T]?: T[Member] };

/**
 * A flag wins over the environment, which wins over the file and the default. Pure: all input is read
 * before.
 */
export function resolveSettings(input: SettingsInput): Settings {
  checkMembers(input.file);
  const values: Mutable<SettingValues> = {};
  const origins: Partial<Record<SettingName, Origin>> = {};
  for (const name of SETTING_NAMES) {
    const found = given(name, input);
    if (found === undefined) continue;
    const folder = found.source === "file" ? dirname(found.name) : input.folder;
    const from = found.source === "file" ? `${name} in ${found.name}` : found.name;
    Object.assign(values, { [name]: settingValue(name, found.value, from, folder) });
    origins[name] = { source: found.source, name: found.name };
  }
  for (const [name, { value, from }] of defaultsOf(values, input)) {
    Object.assign(values, { [name]: value });
    origins[name] = { source: "default", name: from };
  }
  return {
    values: values as SettingValues,
    origins: origins as Record<SettingName, Origin>,
    file: input.file?.path,
    isFileNamed: input.file?.isNamed === true,
  };
}

function given(
  name: SettingName,
  { flags, environment, file }: SettingsInput,
): (Origin & { value: unknown }) | undefined {
  const flag = flags[flagOf(name)];
  if (flag !== undefined) return { source: "flag", name: `--${flagOf(name)}`, value: flag };
  const variable = environment[variableOf(name)];
  // Shells use an empty variable for an unset one.
  if (variable !== undefined && variable !== "") {
    return { source: "environment", name: variableOf(name), value: variable };
  }
  const member = file?.members[name];
  return member === undefined ? undefined : { source: "file", name: file!.path, value: member };
}

type Default = [SettingName, { value: unknown; from: string }];

/** In this order, because later defaults depend on earlier ones. */
function defaultsOf(
  values: Mutable<SettingValues>,
  { folder, readData }: SettingsInput,
): Default[] {
  const data = values.data ?? join(folder, ".waybill");
  const agent = values.agent ?? "operator";
  const beside = (name: string, isRight: (text: string) => boolean = () => true) => {
    const path = join(data, name);
    const read = readData(path);
    if ("why" in read) return { value: undefined, from: `${path}, ${read.why}` };
    const text = read.text.trim();
    return text !== "" && isRight(text)
      ? { value: text, from: path }
      : { value: undefined, from: `${path}, which has unexpected contents` };
  };
  const all: Default[] = [
    ["data", { value: data, from: "this folder" }],
    ["hub", beside("hub.url", isHttp)],
    ["token", beside("operator.token")],
    ["agent", { value: agent, from: "" }],
    ["key", { value: join(data, `${agent}.key`), from: "" }],
    ["database", { value: join(data, "hub.db"), from: "" }],
    ["host", { value: "127.0.0.1", from: "this machine only" }],
    ["port", { value: DEFAULT_PORT, from: "" }],
    ["no_socket", { value: false, from: "" }],
    ["hub_id", { value: undefined, from: "" }],
    ["public_url", { value: undefined, from: "" }],
    ["tls_cert", { value: undefined, from: "" }],
    ["tls_key", { value: undefined, from: "" }],
    ["behind_proxy", { value: false, from: "" }],
    ["allowed_hosts", { value: [], from: "" }],
    ["allowed_origins", { value: [], from: "" }],
    ["open_registry", { value: undefined, from: "" }],
    ["newcomers", { value: undefined, from: "" }],
    ["allowed", { value: [], from: "" }],
    ["operators", { value: ["operator"], from: "" }],
    ["peer", { value: [], from: "" }],
    ["inner_inboxes", { value: [], from: "" }],
    ["max_blob", { value: undefined, from: "" }],
    ["blob_space", { value: undefined, from: "" }],
    ["keep_blobs", { value: undefined, from: "" }],
    ["metrics_token", { value: undefined, from: "" }],
    ["log_level", { value: "info", from: "" }],
  ];
  return all.filter(([name]) => values[name] === undefined);
}

function checkMembers(file: SettingsInput["file"]): void {
  for (const name of Object.keys(file?.members ?? {})) {
    if (Object.hasOwn(SETTINGS, name)) continue;
    throw new WaybillError(
      400,
      `${file!.path} has the member ${JSON.stringify(name)}, which is not a setting.${didYouMean(name, SETTING_NAMES)} The settings are: ${SETTING_NAMES.join(", ")}.`,
    );
  }
}
