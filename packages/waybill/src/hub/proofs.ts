/// <reference types="node" />
import { digestOf, newId, parseJson, WaybillError } from "@waybill/protocol";
import { errorOfResponse, operatorTokenDomain, signOperatorRequest } from "@waybill/protocol/wire";
import type { Settings } from "../settings/settings.ts";
import { hostOf } from "./hub-fetch.ts";
import { fromText } from "./which-hub.ts";
import type { WhichHub } from "./which-hub.ts";

/** Whether requests are signed as the operator, and if not, why. */
type Standing = { readonly token: string } | { readonly why: string };

/** The body may contain a manifest. */
const LIMITS = { envelopeBytes: 4 * 1024 * 1024 };

/** Signs requests with the operator token, which itself is never sent. */
export class Proofs {
  readonly #settings: Settings;
  readonly #hub: WhichHub;
  readonly #askAsStranger: (path: string) => Promise<Response>;
  #standing: Standing | undefined;

  constructor(
    settings: Settings,
    hub: WhichHub,
    askAsStranger: (path: string) => Promise<Response>,
  ) {
    this.#settings = settings;
    this.#hub = hub;
    this.#askAsStranger = askAsStranger;
  }

  /**
   * The header for one request. Undefined if the token is not for this hub: then the request is
   * anonymous.
   */
  async header(
    method: string,
    path: string,
    body: string | undefined,
  ): Promise<string | undefined> {
    const standing = await this.#known();
    if ("why" in standing) return undefined;
    const claim = {
      // The proof names the address that is really called, so a forwarded one is worthless.
      host: hostOf(this.#hub.url),
      id: newId(),
      at: Date.now(),
      method,
      path,
      ...(body !== undefined && { bodyDigest: digestOf(body) }),
    };
    return signOperatorRequest(claim, standing.token);
  }

  /** The explanation for a refused request. */
  async told(): Promise<string> {
    const standing = await this.#known();
    const from = fromText(this.#settings.origins.token, "token");
    return "why" in standing
      ? standing.why
      : `The request was signed with the operator token from ${from}. Compare it with operator.token in the data folder of the hub.`;
  }

  async #known(): Promise<Standing> {
    return (this.#standing ??= await this.#find());
  }

  async #find(): Promise<Standing> {
    const { values, origins } = this.#settings;
    const { token } = values;
    const from = fromText(origins.token, "token");
    const unsigned = "The request was not signed with an operator token";
    if (token === undefined) {
      return {
        why: `${unsigned}: no operator token was found (${from}). Run the command in the folder where the hub was started, or name that folder with --data, or give the token with --token or WAYBILL_TOKEN.`,
      };
    }
    const domain = operatorTokenDomain(token);
    if (domain === undefined) {
      return {
        why: `${unsigned}: the token from ${from} is not a valid operator token. Restart the hub, and it writes a new one.`,
      };
    }
    const answered = await this.#domainOfHub();
    if (domain === answered) return { token };
    const isOfFolder = origins.hub.source === "default" && origins.token.source === "default";
    if (isOfFolder) throw this.#takenPlace(domain, answered);
    return {
      why: `${unsigned}: the token from ${from} belongs to the hub with the custody domain ${domain}, and ${answered === undefined ? "this one names no domain" : `this one has the domain ${answered}`}. Name the hub of that token with --hub, or the data folder of this one with --data.`,
    };
  }

  #takenPlace(domain: string, answered: string | undefined): WaybillError {
    const { data } = this.#settings.values;
    return new WaybillError(
      503,
      `The hub of the data folder ${data} (custody domain ${domain}) is no longer at ${this.#hub.url}, the address in ${this.#hub.from}: ${answered === undefined ? "something else" : `a hub of ${answered}`} answers there. Start it again with "waybill dev", or name the hub with --hub.`,
    );
  }

  /** The hub's claim about its own domain. If it lies, the proof is of no use to it. */
  async #domainOfHub(): Promise<string | undefined> {
    const response = await this.#askAsStranger("/.well-known/waybill");
    const text = await response.text();
    if (!response.ok) {
      const error = errorOfResponse(response.status, text);
      if (error.retryable) throw error;
      return undefined;
    }
    try {
      const { domain } = parseJson(text, LIMITS) as { readonly domain?: unknown };
      return typeof domain === "string" ? domain : undefined;
    } catch {
      return undefined;
    }
  }
}
