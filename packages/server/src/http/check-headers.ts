/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { WaybillError } from "@waybill/protocol";
import type { Hosts } from "../access/hosts.ts";
import type { Toll, RateLimits } from "../access/rate-limits.ts";
import { addressOf } from "./address.ts";
import type { Connection } from "./connections.ts";
import { isUpload } from "./uploads.ts";

export interface HeaderCheckOptions {
  readonly hosts: Hosts;
  readonly tolls: RateLimits;
  readonly bodyBytes: number;
}

const WITHOUT_BODY: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Refusals by headers only: nothing of the body has been read by then. */
export function checkHeaders(
  request: IncomingMessage,
  options: HeaderCheckOptions,
  connection: Connection,
): Toll {
  const { hosts, tolls, bodyBytes } = options;
  const { headers, method } = request;
  const address = addressOf(request, connection);
  // Uploads are not buffered here, and their agents pay for them as they arrive.
  const length = isUpload(request) ? 0 : Number(headers["content-length"] ?? 0);
  // On a connection on which an agent has authenticated, its next proof pays for its next request.
  const isSigned = headers.authorization !== undefined;
  const isTrusted = !connection.isProxied && connection.owner !== undefined && isSigned;
  // A body that is too long in any case is refused for that, and costs no more than its headers.
  const bytes = length > bodyBytes ? 0 : length;
  const toll = tolls.enter({ address, bytes, isSigned, isTrusted });
  hosts.check(headers.host, headers.origin);
  request.url = pathOf(request.url ?? "", hosts, headers.origin);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new WaybillError(
      400,
      "This hub accepts no compressed bodies; send the body uncompressed.",
    );
  }
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined;
  if (hasBody && WITHOUT_BODY.has(method)) {
    throw new WaybillError(
      400,
      `A ${method} request must not have a body here; send it without one.`,
    );
  }
  if (length > bodyBytes) {
    throw new WaybillError(413, `The body has ${length} bytes, and the limit is ${bodyBytes}.`);
  }
  return toll;
}

/** A proxy may be sent a whole URL, and then its host is what counts (RFC 9112, 3.2.2). */
function pathOf(url: string, hosts: Hosts, origin: string | undefined): string {
  if (url.startsWith("/") || !URL.canParse(url)) return url;
  const { host, pathname, search } = new URL(url);
  hosts.check(host, origin);
  return pathname + search;
}
