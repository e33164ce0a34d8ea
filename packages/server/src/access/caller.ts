import type { HubIdentity, Viewer } from "@waybill/hub/serving";
import type { Operator } from "@waybill/hub";
import { verifyCompact, WaybillError } from "@waybill/protocol";
import {
  checkRequest,
  checkRequestKey,
  checkRequestLine,
  OPERATOR_SCHEME,
  readOperatorRequest,
  readRequest,
} from "@waybill/protocol/wire";
import type { OperatorClaim, RequestClaim } from "@waybill/protocol/wire";
import { CONSOLE_SCHEME } from "../console/sessions.ts";
import type { ConsoleSessions } from "../console/sessions.ts";
import { isSameToken } from "./operator-token.ts";
import type { UsedProofs } from "./used-proofs.ts";

export type Caller =
  | { readonly type: "stranger" }
  | {
      readonly type: "agent";
      readonly agent: string;
      /** The key that it has proven itself with. */
      readonly kid: string;
      readonly claim: RequestClaim;
    }
  | {
      readonly type: "operator";
      readonly claim: OperatorClaim;
      /** Present for somebody who is signed in to the console and may only read. */
      readonly isReader?: boolean;
    }
  /** The reader of the metrics, who may do nothing else. */
  | { readonly type: "scraper" };

export interface CallerOptions {
  readonly hub: HubIdentity;
  readonly operator: Operator;
  readonly operatorToken: string;
  readonly sessions: ConsoleSessions;
  readonly metricsToken: string | undefined;
  readonly used: UsedProofs;
  readonly openedAt: number;
}

/** What is known about a request from its headers. */
export interface Request {
  readonly authorization: string | undefined;
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  /** Whether this host and port lead to the hub, for this client. */
  readonly isAskedAt: (host: string) => boolean;
}

/** The viewer of what is offered. */
export function viewerOf(caller: Caller): Viewer {
  if (caller.type === "operator") return "operator";
  return caller.type === "agent" ? { agent: caller.agent, kid: caller.kid } : "anybody";
}

/** No agent has such an id. */
const OPERATORS = "(operators)";
const METRICS = "/metrics";
const BEARER = /^bearer(?: +(.*))?$/is;

/** The authenticated caller of a request; 401 for an invalid proof, whatever was requested. */
export async function callerOf(request: Request, options: CallerOptions): Promise<Caller> {
  const { authorization } = request;
  if (authorization === undefined) return { type: "stranger" };
  const bearer = BEARER.exec(authorization);
  if (bearer !== null) return bearerOf(bearer[1] ?? "", request, options);
  if (authorization.startsWith(CONSOLE_SCHEME)) {
    const { claim, role } = options.sessions.read(authorization, options.operator.now());
    checkOperator(claim, request, options);
    return { type: "operator", claim, ...(role === "reader" && { isReader: true }) };
  }
  return authorization.startsWith(OPERATOR_SCHEME)
    ? operatorOf(authorization, request, options)
    : agentOf(authorization, request, options);
}

function bearerOf(
  token: string,
  { method, path }: Request,
  { metricsToken }: CallerOptions,
): Caller {
  const isMetrics = method === "GET" && path === METRICS && metricsToken !== undefined;
  if (isMetrics && isSameToken(token, metricsToken)) return { type: "scraper" };
  throw new WaybillError(
    401,
    isMetrics
      ? "Invalid metrics token. Use the one that this hub was started with: metrics_token."
      : `This hub accepts no bearer token here. An operator token is never sent: it keys the proof of each request (Authorization: ${OPERATOR_SCHEME} <payload>.<mac>), which the waybill command or signOperatorRequest of @waybill/protocol/wire creates. If you sent an operator token, replace it: others may have read it in transit.`,
  );
}

function operatorOf(authorization: string, request: Request, options: CallerOptions): Caller {
  const claim = readOperatorRequest(authorization, options.operatorToken);
  checkOperator(claim, request, options);
  return { type: "operator", claim };
}

/** Every proof with an operator's key is for one request of this hub, once. */
function checkOperator(
  claim: OperatorClaim,
  { method, path, isAskedAt }: Request,
  { hub, operator, used, openedAt }: CallerOptions,
): void {
  const { clockSkewMs } = operator.limits;
  const now = operator.now();
  checkRequestLine(claim, { domain: hub.domain, method, path, now, clockSkewMs });
  if (claim.host !== undefined && !isAskedAt(claim.host)) {
    throw new WaybillError(
      401,
      `The request is signed for ${JSON.stringify(claim.host)}, which is not an address of this hub. A request must not be relayed. Use the address that the hub listens at, or ask its operator to add this one as the public URL or to the allowed hosts.`,
    );
  }
  checkOpenedBefore(claim, openedAt);
  used.use(OPERATORS, claim.id, now);
}

async function agentOf(
  authorization: string,
  { method, path }: Request,
  { hub, operator, used, openedAt }: CallerOptions,
): Promise<Caller> {
  const { clockSkewMs } = operator.limits;
  const now = operator.now();
  const { claim, proof, kid } = readRequest(authorization);
  checkRequest(claim, { to: hub.id, domain: hub.domain, method, path, now, clockSkewMs });
  checkOpenedBefore(claim, openedAt);
  const { key } = checkRequestKey(claim, await operator.keyOf(kid, claim.from), now);
  verifyCompact(proof, () => key);
  used.use(claim.from, claim.id, now);
  return { type: "agent", agent: claim.from, kid, claim };
}

/** After a restart a hub does not know which proofs were used before. */
function checkOpenedBefore({ at }: { readonly at: number }, openedAt: number): void {
  if (at >= openedAt) return;
  throw new WaybillError(503, "The request was signed before this hub started; sign it again.", {
    retryAfterMs: openedAt - at,
  });
}
