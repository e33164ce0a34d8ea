/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { WaybillError } from "@waybill/protocol";
import type { Budgets } from "../budgets.ts";
import type { Hosts } from "../doors/hosts.ts";
import { tooMany } from "../doors/rates.ts";
import type { Rates } from "../doors/rates.ts";
import { addressOf } from "./address.ts";

export interface DoorOptions {
  readonly hosts: Hosts;
  readonly budgets: Budgets;
  readonly addressRates: Rates;
  readonly isBehindProxy: boolean;
  readonly bodyBytes: number;
}

/** What is refused by its headers alone: nothing of the body has been read by then. */
export function checkAtDoor(request: IncomingMessage, options: DoorOptions): void {
  const { hosts, budgets, addressRates, isBehindProxy, bodyBytes } = options;
  const { headers } = request;
  const early = addressRates.take(addressOf(request, isBehindProxy), Date.now());
  if (early > 0) {
    budgets.hit("requestsPerAddress");
    throw tooMany("This address", early);
  }
  hosts.check(headers.host, headers.origin);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new WaybillError(400, "This hub takes no compressed bodies; send it as it is.");
  }
  const length = Number(headers["content-length"] ?? 0);
  if (length > bodyBytes) {
    throw new WaybillError(413, `The body has ${length} bytes, and the limit is ${bodyBytes}.`);
  }
}
