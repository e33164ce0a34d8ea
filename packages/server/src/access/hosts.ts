/// <reference types="node" />
import { isIP } from "node:net";
import { WaybillError } from "@waybill/protocol";
import { UNIX_ADDRESS } from "../http/address.ts";

const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
/** Names that always resolve to this machine. */
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
/** The default ports, which a URL omits. */
const DEFAULT_PORTS: ReadonlySet<unknown> = new Set([80, 443]);

export interface HostRules {
  readonly host: string;
  readonly isBehindProxy?: boolean | undefined;
  readonly publicUrl?: string | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** The two ends of the connection that a request came on. */
export interface Ends {
  /** The address of the client (`addressOf`). */
  readonly from: string;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
}

export function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host === "[::1]" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/** Whether only this machine can reach the hub: a proxy, a tunnel or another name leads others here. */
export function isLocalOnly({ host, isBehindProxy = false, ...rules }: HostRules): boolean {
  const { publicUrl, allowedHosts = [] } = rules;
  const names = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  return !isBehindProxy && [host, ...names, ...allowedHosts].every((name) => isLoopback(name));
}

/**
 * The names under which a hub may be requested, and by which web pages (DNS rebinding). A foreign page
 * can have its name resolve to this machine; it can't make the browser send another name.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  /** Allowed with any port: a proxy or a tunnel has its own. */
  readonly #allowed: ReadonlySet<string>;
  /** Host and port of the public URL. */
  readonly #public: string | undefined;
  readonly #bound: string;
  readonly #origins: ReadonlySet<string>;
  readonly #takesAddresses: boolean;

  constructor({ host, publicUrl, allowedHosts = [], allowedOrigins = [] }: HostRules) {
    const allowed = allowedHosts.map(lower);
    const withoutPorts = allowed.map((each) => nameOf(each) ?? each);
    const names = [...LOOPBACK_NAMES, bracketed(host), ...withoutPorts];
    if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
    this.#bound = bracketed(host);
    this.#allowed = new Set(allowed);
    this.#public = publicUrl === undefined ? undefined : new URL(publicUrl).host;
    this.#names = new Set(names);
    const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
    this.#origins = new Set([...own, ...allowedOrigins.map(lower)]);
    // An address can't be rebound.
    this.#takesAddresses = !isLoopback(host);
  }

  check(host: string | undefined, origin: string | undefined): void {
    const name = nameOf(host);
    if (name === undefined || !this.#isOwn(name)) {
      throw new WaybillError(
        403,
        `Host ${show(host)} is not allowed at this hub. Use the address that the hub listens at, or ask its operator to add the name: --allowed-hosts.`,
      );
    }
    if (origin === undefined || this.#origins.has(lower(origin))) return;
    const from = URL.canParse(origin) ? new URL(origin) : undefined;
    // A page that this hub has served, at whatever port a proxy or a test has put it.
    if (from !== undefined && from.host === lower(host!) && this.#isOwn(from.hostname)) return;
    throw new WaybillError(
      403,
      `Origin ${show(origin)} is not allowed at this hub. Ask its operator to add it: --allowed-origins.`,
    );
  }

  /**
   * Whether the host and port of a URL lead here and nowhere else, for this client. What is called
   * localhost elsewhere is not this hub.
   */
  isAt(host: string, { from, localAddress, localPort }: Ends): boolean {
    const authority = lower(host);
    // Only who may use the hub's own Unix socket can pass on what was signed for one.
    if (authority === UNIX_ADDRESS) return from === UNIX_ADDRESS;
    const name = nameOf(authority);
    if (name === undefined) return false;
    if (this.#allowed.has(authority) || this.#allowed.has(name)) return true;
    if (authority === this.#public) return true;
    const port = /:(\d+)$/.exec(authority)?.[1];
    const isPort = port === undefined ? DEFAULT_PORTS.has(localPort) : Number(port) === localPort;
    if (!isPort) return false;
    const address = bare(name);
    if (isLoopback(address) || UNSPECIFIED.has(address)) return isLoopback(plainAddress(from));
    return name === this.#bound || (isIP(address) !== 0 && address === plainAddress(localAddress));
  }

  #isOwn(name: string): boolean {
    if (this.#names.has(name)) return true;
    return this.#takesAddresses && isIP(bare(name)) !== 0;
  }
}

/** The name in a Host header, without its port. */
function nameOf(host: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(lower(host ?? ""));
  return match?.[1];
}

function bare(name: string): string {
  return name.replace(/^\[|\]$/g, "");
}

/** An IPv4 address in its own form, on a dual-stack socket. */
function plainAddress(address: string | undefined): string {
  return lower(address ?? "").replace(/^::ffff:(?=\d+\.)/, "");
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${lower(host)}]` : lower(host);
}

function lower(text: string): string {
  return text.toLowerCase();
}

function show(text: string | undefined): string {
  return text === undefined ? "nothing" : JSON.stringify(text.slice(0, 60));
}
