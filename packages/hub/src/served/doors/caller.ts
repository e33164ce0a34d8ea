import { verifyCompact, WaybillError } from "@waybill/protocol";
import { checkRequest, checkRequestKey, readRequest } from "@waybill/protocol/api";
import type { RequestClaim } from "@waybill/protocol/api";
import type { Operator } from "../../operator.ts";
import type { HubIdentity } from "../../registry/identity.ts";
import { isSameToken } from "./operator-token.ts";
import type { UsedProofs } from "./used-proofs.ts";

export type Caller =
  | { readonly type: "stranger" }
  | { readonly type: "agent"; readonly agent: string; readonly claim: RequestClaim }
  | { readonly type: "operator" };

export interface CallerOptions {
  readonly hub: HubIdentity;
  readonly operator: Operator;
  readonly operatorToken: string;
  readonly used: UsedProofs;
  readonly openedAt: number;
}

/** Who a request says it is from, proven; 401 for a proof that does not hold, whatever was asked. */
export async function callerOf(
  authorization: string | undefined,
  method: string,
  path: string,
  options: CallerOptions,
): Promise<Caller> {
  if (authorization === undefined) return { type: "stranger" };
  if (authorization.startsWith("Bearer ")) {
    if (isSameToken(authorization.slice("Bearer ".length), options.operatorToken)) {
      return { type: "operator" };
    }
    throw new WaybillError(401, "The operator token is another one; see where the hub keeps it.");
  }
  const { operator, used, openedAt } = options;
  const { clockSkewMs } = operator.limits;
  const now = operator.now();
  const { claim, proof, kid } = readRequest(authorization);
  const { id: to, domain } = options.hub;
  checkRequest(claim, { to, domain, method, path, now, clockSkewMs });
  if (claim.at < openedAt) {
    // Which proofs were used before it went down, it does not know.
    throw new WaybillError(
      503,
      "The request was signed before this hub was started; sign it anew.",
      { retryAfterMs: openedAt - claim.at },
    );
  }
  const { key } = checkRequestKey(claim, await operator.keyOf(kid, claim.from), now);
  verifyCompact(proof, () => key);
  used.use(claim.from, claim.id, now);
  return { type: "agent", agent: claim.from, claim };
}
