/** All settings, given by a flag, the environment or a file. */
export interface SettingValues {
  readonly data: string;
  readonly hub: string | undefined;
  readonly token: string | undefined;
  readonly agent: string;
  readonly key: string;
  readonly database: string;
  readonly host: string;
  readonly port: number;
  readonly no_socket: boolean;
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
  readonly max_blob: number | undefined;
  readonly blob_space: number | undefined;
  readonly keep_blobs: number | undefined;
  readonly metrics_token: string | undefined;
  readonly log_level: string;
}

export type SettingName = keyof SettingValues;

export interface SettingSpec {
  readonly kind: "text" | "path" | "url" | "hub" | "port" | "size" | "time" | "switch" | "list";
  /** The placeholder of its value in the help. */
  readonly value: string;
  readonly says: string;
  readonly isSecret?: boolean;
}

export const DEFAULT_PORT = 7411;

/** One row for each setting: `tls_cert` is `--tls-cert`, `WAYBILL_TLS_CERT`, and `tls_cert` in the file. */
export const SETTINGS: { readonly [Name in SettingName]: SettingSpec } = {
  data: {
    kind: "path",
    value: "<folder>",
    says: "the folder with the hub's database, keys and token (.waybill)",
  },
  hub: {
    kind: "hub",
    value: "<url>",
    says: "the address of the hub, also unix:<path> (the one last started in --data)",
  },
  token: {
    kind: "text",
    value: "<token>",
    says: "the operator token, which signs requests (operator.token in --data)",
    isSecret: true,
  },
  agent: { kind: "text", value: "<id>", says: "the agent that hands work off (operator)" },
  key: {
    kind: "path",
    value: "<file>",
    says: "the key file of --agent (named after the agent, in --data)",
  },
  database: { kind: "path", value: "<file>", says: "the hub's database (hub.db in --data)" },
  host: { kind: "text", value: "<address>", says: "the address to listen on (127.0.0.1)" },
  port: {
    kind: "port",
    value: "<number>",
    says: `the port to listen on; 0 picks a free one (${DEFAULT_PORT})`,
  },
  no_socket: {
    kind: "switch",
    value: "",
    says: "listen on TCP only, not also on the Unix socket hub.sock in --data",
  },
  hub_id: {
    kind: "text",
    value: "<id>",
    says: "the hub's id (hub- and 12 digits derived from its key)",
  },
  public_url: {
    kind: "url",
    value: "<url>",
    says: "the address that others use, if it differs from --host and --port",
  },
  tls_cert: { kind: "path", value: "<file>", says: "certificate chain in PEM; turns TLS on" },
  tls_key: { kind: "path", value: "<file>", says: "private key of the certificate, in PEM" },
  behind_proxy: {
    kind: "switch",
    value: "",
    says: "trust X-Forwarded-* headers from a reverse proxy that does TLS",
  },
  allowed_hosts: {
    kind: "list",
    value: "<names>",
    says: "more host names that requests may use, separated by commas",
  },
  allowed_origins: {
    kind: "list",
    value: "<urls>",
    says: "origins of web pages that may call the hub, separated by commas (none)",
  },
  open_registry: {
    kind: "switch",
    value: "",
    says: "let anyone list the enrolled agents (on for loopback without a proxy)",
  },
  newcomers: {
    kind: "text",
    value: "<whom>",
    says: "who may enrol: open, allow-list, invitation (open on loopback)",
  },
  allowed: {
    kind: "list",
    value: "<names>",
    says: "agents and key thumbprints that need no invitation, separated by commas (none)",
  },
  operators: {
    kind: "list",
    value: "<ids>",
    says: "agents that may act on anyone's dead letters, separated by commas (operator)",
  },
  peer: {
    kind: "list",
    value: "<urls>",
    says: "other hubs whose agents are offered here, separated by commas (none)",
  },
  inner_inboxes: {
    kind: "list",
    value: "<hosts>",
    says: "private hosts that work may be pushed to, separated by commas (none)",
  },
  max_blob: {
    kind: "size",
    value: "<size>",
    says: "the largest file that agents may upload, such as 500MB or 20GB (5GiB)",
  },
  blob_space: {
    kind: "size",
    value: "<size>",
    says: "the space for all uploaded files, beside the database (200GiB)",
  },
  keep_blobs: {
    kind: "time",
    value: "<time>",
    says: "how long a file is kept once its handoffs have ended, such as 12h (30d)",
  },
  metrics_token: {
    kind: "text",
    value: "<token>",
    says: "bearer token that may read /metrics and nothing else (none)",
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
