/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";

interface Reason {
  readonly why: string;
  readonly todo: string;
}

const ADDRESS = "Check the address.";
const CERTIFICATE: Reason = {
  why: "its TLS certificate is not trusted on this machine",
  todo: "If it is the hub's own, name the certificate of its authority in NODE_EXTRA_CA_CERTS.",
};

const PLAIN: Reason = {
  why: "what listens there does not speak TLS",
  todo: "If the hub serves no TLS, its address begins with http: and not with https:.",
};

/** Why no hub answered, by Node's error code. */
const REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: {
    why: "nothing listens there",
    todo: "Start the hub, or check host and port of the address.",
  },
  ENOENT: {
    why: "there is no such socket",
    todo: "Start the hub, or check the path of the address.",
  },
  EACCES: {
    why: "this user may not connect to it",
    todo: "A hub's Unix socket is for the user that runs the hub: use its URL.",
  },
  ENOTFOUND: {
    why: "the host name is unknown (DNS)",
    todo: "Check the spelling of the host, and that this machine's DNS knows it.",
  },
  EAI_AGAIN: {
    why: "the host name can't be looked up at the moment (DNS)",
    todo: "Check this machine's network and DNS, and try again.",
  },
  ETIMEDOUT: { why: "connecting took too long", todo: `${ADDRESS} A firewall may be in between.` },
  EHOSTUNREACH: { why: "there is no route to the host", todo: "Check the network." },
  ENETUNREACH: { why: "there is no route to its network", todo: "Check the network." },
  ECONNRESET: {
    why: "the connection was cut before an answer came",
    todo: "Check that the address is a hub's. A hub that serves TLS is addressed with https.",
  },
  ERR_SSL_WRONG_VERSION_NUMBER: PLAIN,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PLAIN,
  EPROTO: PLAIN,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  CERT_HAS_EXPIRED: {
    why: "its TLS certificate has expired",
    todo: "The hub's operator has to renew it.",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    why: "its TLS certificate is for another host name",
    todo: "Use the name that the certificate is for.",
  },
  UND_ERR_SOCKET: {
    why: "the connection was cut before an answer came",
    todo: "Check that the address is a hub's. A hub that serves TLS is addressed with https.",
  },
};
const SILENT: Reason = {
  why: "it has not answered in time",
  todo: `${ADDRESS} If the hub runs there, look at its log.`,
};
const TIMEOUTS: ReadonlySet<unknown> = new Set([
  "AbortError",
  "TimeoutError",
  "HeadersTimeoutError",
  "ConnectTimeoutError",
]);

/**
 * The 503 for an address where no hub answers: why, and what to do. Its cause is the thrown error.
 *
 * @example
 * ```ts
 * try {
 *   await fetch("https://hub.example.com/healthz");
 * } catch (error) {
 *   throw unreachable("https://hub.example.com", error);
 * }
 * ```
 */
export function unreachable(url: string, cause: unknown, from?: string): WaybillError {
  const { why, todo } = reasonOf(cause);
  const at = from === undefined ? url : `${url} (from ${from})`;
  return new WaybillError(503, `No hub answers at ${at}: ${why}. ${todo}`, { cause });
}

function reasonOf(thrown: unknown): Reason {
  let message = "";
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const { code } = error as { code?: unknown };
    if (typeof code === "string" && Object.hasOwn(REASONS, code)) return REASONS[code]!;
    if (isTimeout(error)) return SILENT;
    message = error.message || message;
  }
  // OpenSSL ends its messages with a line feed.
  const why = message.trim().replace(/[.:]+$/, "") || "the connection failed";
  return { why, todo: ADDRESS };
}

/** The time was over. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && TIMEOUTS.has(error.name);
}
