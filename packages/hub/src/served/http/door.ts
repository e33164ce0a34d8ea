/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { WaybillError } from "@waybill/protocol";
import type { Budgets } from "../budgets.ts";
import type { Hosts } from "../doors/hosts.ts";
import { tooMany } from "../doors/rates.ts";
import type { Rates } from "../doors/rates.ts";
import { addressOf } from "./address.ts";
import type { Connection } from "./connections.ts";

export interface DoorOptions {
  readonly hosts: Hosts;
  readonly budgets: Budgets;
  readonly addressRates: Rates;
  readonly isBehindProxy: boolean;
  readonly bodyBytes: number;
}

const WITHOUT_BODY: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** What is refused by its headers alone: nothing of the body has been read by then. */
export function checkAtDoor(
  request: IncomingMessage,
  options: DoorOptions,
  connection: Connection,
): void {
  const { hosts, budgets, addressRates, isBehindProxy, bodyBytes } = options;
  const { headers, method } = request;
  // On a line on which an agent has proven who it is, its next proof pays for its next request.
  const isTrusted = connection.owner !== undefined && headers.authorization !== undefined;
  const early = isTrusted ? 0 : addressRates.take(addressOf(request, isBehindProxy), Date.now());
  if (early > 0) {
    budgets.hit("requestsPerAddress");
    throw tooMany("This address", early);
  }
  hosts.check(headers.host, headers.origin);
  request.url = pathOf(request.url ?? "", hosts, headers.origin);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new WaybillError(400, "This hub takes no compressed bodies; send it as it is.");
  }
  const length = Number(headers["content-length"] ?? 0);
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined;
  if (hasBody && WITHOUT_BODY.has(method)) {
    throw new WaybillError(400, `A ${method} has no body here; send it without one.`);
  }
  if (length > bodyBytes) {
    throw new WaybillError(413, `The body has ${length} bytes, and the limit is ${bodyBytes}.`);
  }
}

/** A proxy may be asked for a whole URL, and then its host is what counts (RFC 9112, 3.2.2). */
function pathOf(url: string, hosts: Hosts, origin: string | undefined): string {
  if (url.startsWith("/") || !URL.canParse(url)) return url;
  const { host, pathname, search } = new URL(url);
  hosts.check(host, origin);
  return pathname + search;
}
