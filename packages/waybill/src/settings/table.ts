/** Everything that can be set, by a flag, the environment or a file. */
export interface SettingValues {
  readonly data: string;
  readonly hub: string | undefined;
  readonly token: string | undefined;
  readonly agent: string;
  readonly key: string;
  readonly database: string;
  readonly host: string;
  readonly port: number;
  readonly hub_id: string | undefined;
  readonly public_url: string | undefined;
  readonly tls_cert: string | undefined;
  readonly tls_key: string | undefined;
  readonly behind_proxy: boolean;
  readonly allowed_hosts: readonly string[];
  readonly allowed_origins: readonly string[];
  readonly open_registry: boolean | undefined;
  readonly newcomers: string | undefined;
  readonly allowed: readonly string[];
  readonly operators: readonly string[];
  readonly peer: readonly string[];
  readonly inner_inboxes: readonly string[];
  readonly metrics_token: string | undefined;
  readonly log_level: string;
}

export type SettingName = keyof SettingValues;

export interface SettingSpec {
  readonly kind: "text" | "path" | "url" | "port" | "switch" | "list";
  /** What stands for its value in the help. */
  readonly value: string;
  readonly says: string;
  readonly isSecret?: boolean;
}

export const DEFAULT_PORT = 7411;

/** One row a setting: `tls_cert` is `--tls-cert`, `WAYBILL_TLS_CERT`, and `tls_cert` in the file. */
export const SETTINGS: { readonly [Name in SettingName]: SettingSpec } = {
  data: {
    kind: "path",
    value: "<folder>",
    says: "where a hub on this machine keeps its database, keys and token (.waybill)",
  },
  hub: {
    kind: "url",
    value: "<url>",
    says: "which hub to speak to (the one that last started on --data)",
  },
  token: {
    kind: "text",
    value: "<token>",
    says: "what operators sign their requests with (from operator.token in --data)",
    isSecret: true,
  },
  agent: { kind: "text", value: "<id>", says: "who hands off (operator)" },
  key: {
    kind: "path",
    value: "<file>",
    says: "the key of --agent (its name with .key, in --data)",
  },
  database: { kind: "path", value: "<file>", says: "the hub's database (hub.db in --data)" },
  host: { kind: "text", value: "<address>", says: "the address to listen on (127.0.0.1)" },
  port: {
    kind: "port",
    value: "<number>",
    says: `the port to listen on, 0 for any that is free (${DEFAULT_PORT})`,
  },
  hub_id: {
    kind: "text",
    value: "<id>",
    says: "the hub's name as an agent (hub- and 12 digits, from its key)",
  },
  public_url: {
    kind: "url",
    value: "<url>",
    says: "where others reach the hub, when that is not where it listens",
  },
  tls_cert: { kind: "path", value: "<file>", says: "certificate chain, PEM: serve TLS" },
  tls_key: { kind: "path", value: "<file>", says: "its private key, PEM" },
  behind_proxy: {
    kind: "switch",
    value: "",
    says: "a reverse proxy in front does TLS and sets X-Forwarded-*",
  },
  allowed_hosts: {
    kind: "list",
    value: "<names>",
    says: "more names that the hub may be asked under, by commas",
  },
  allowed_origins: {
    kind: "list",
    value: "<urls>",
    says: "web pages that may ask the hub, by commas (none)",
  },
  open_registry: {
    kind: "switch",
    value: "",
    says: "strangers may read who is enrolled (on loopback without a proxy)",
  },
  newcomers: {
    kind: "text",
    value: "<whom>",
    says: "whom the hub lets enrol: open, allow-list, invitation (open on loopback)",
  },
  allowed: {
    kind: "list",
    value: "<names>",
    says: "agents and key thumbprints that need no invitation, by commas (none)",
  },
  operators: {
    kind: "list",
    value: "<ids>",
    says: "agents that may replay the dead letters of others, by commas (operator)",
  },
  peer: {
    kind: "list",
    value: "<urls>",
    says: "hubs whose agents can be handed work from here, by commas (none)",
  },
  inner_inboxes: {
    kind: "list",
    value: "<hosts>",
    says: "inner hosts where the inboxes of agents may be, by commas (none)",
  },
  metrics_token: {
    kind: "text",
    value: "<token>",
    says: "whoever sends it as a bearer may read /metrics, and nothing else (nobody)",
    isSecret: true,
  },
  log_level: {
    kind: "text",
    value: "<level>",
    says: "debug, info, warn or error (info)",
  },
};

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS) as SettingName[];

export function flagOf(name: string): string {
  return name.replaceAll("_", "-");
}

export function variableOf(name: string): string {
  return `WAYBILL_${name.toUpperCase()}`;
}
