/// <reference types="node" />
import { createHmac } from "node:crypto";
import { newId } from "@waybill/protocol";
import type { Place } from "./place.ts";

/** The Authorization header of an operator's request. */
export function operatorProof({ domain, operatorToken }: Place, path: string): string {
  const at = new Date().toISOString();
  const claim = {
    waybill: 1,
    kind: "operator_request",
    domain,
    id: newId(),
    at,
    method: "GET",
    path,
  };
  const payload = Buffer.from(JSON.stringify(claim)).toString("base64url");
  const mac = createHmac("sha256", operatorToken).update(`waybill operator 1\n${payload}`);
  return `Waybill-Operator ${payload}.${mac.digest("base64url")}`;
}
