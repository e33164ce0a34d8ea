/// <reference types="node" />
import { isIP } from "node:net";
import { WaybillError } from "@waybill/protocol";

const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

export interface HostRules {
  readonly host: string;
  readonly isBehindProxy?: boolean | undefined;
  readonly publicUrl?: string | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

export function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host === "[::1]" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/** Whether nobody but this machine can ask: a proxy, a tunnel or another name leads others here. */
export function isLocalOnly({ host, isBehindProxy = false, ...rules }: HostRules): boolean {
  const { publicUrl, allowedHosts = [] } = rules;
  const names = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  return !isBehindProxy && [host, ...names, ...allowedHosts].every((name) => isLoopback(name));
}

/**
 * Under which names a hub may be asked, and by which web pages. A page of a stranger can have its
 * name point to this machine; it can't have the browser say another name than that.
 */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #takesAddresses: boolean;

  constructor({ host, publicUrl, allowedHosts = [], allowedOrigins = [] }: HostRules) {
    const names = [...LOOPBACK_NAMES, bracketed(host), ...allowedHosts.map(lower)];
    if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
    this.#names = new Set(names);
    const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
    this.#origins = new Set([...own, ...allowedOrigins.map(lower)]);
    // An address can't be made to point elsewhere.
    this.#takesAddresses = !isLoopback(host);
  }

  check(host: string | undefined, origin: string | undefined): void {
    const name = nameOf(host);
    if (name === undefined || !this.#isOwn(name)) {
      throw new WaybillError(
        403,
        `This hub is not asked under the name ${show(host)}; use the address that it listens at, or have its operator allow the name.`,
      );
    }
    if (origin === undefined || this.#origins.has(lower(origin))) return;
    const from = URL.canParse(origin) ? new URL(origin) : undefined;
    // A page that this very hub has served, whatever port a proxy or a test has put it at.
    if (from !== undefined && from.host === lower(host!) && this.#isOwn(from.hostname)) return;
    throw new WaybillError(
      403,
      `Web pages of ${show(origin)} may not ask this hub; have its operator allow that origin.`,
    );
  }

  #isOwn(name: string): boolean {
    if (this.#names.has(name)) return true;
    return this.#takesAddresses && isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  }
}

/** The name in a Host header, without its port. */
function nameOf(host: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(lower(host ?? ""));
  return match?.[1];
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
