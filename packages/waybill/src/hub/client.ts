/// <reference types="node" />
import { unreachable } from "@waybill/agent/connect";
import { parseJson, WaybillError } from "@waybill/protocol";
import { errorOfResponse } from "@waybill/protocol/wire";
import type { Context } from "../context.ts";
import type { Settings } from "../settings/settings.ts";
import type { Style } from "../terminal/style.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { printable } from "../terminal/text.ts";
import { hubFetch } from "./hub-fetch.ts";
import { Proofs } from "./proofs.ts";
import { whichHub } from "./which-hub.ts";
import type { WhichHub } from "./which-hub.ts";

export type HubClientContext = Pick<Context, "settings" | "terminal" | "signal">;

export interface HubClient {
  readonly url: string;
  get(path: string): Promise<unknown>;
  post(path: string, body?: unknown): Promise<unknown>;
  /** The lines of a stream, as they arrive. */
  lines(path: string): AsyncGenerator<string>;
  /** The raw answer to a request without a token. */
  asStranger(path: string): Promise<Response>;
}

const NDJSON = "application/x-ndjson";
/**
 * The limit of a response. A hub limits request bodies; its responses are larger, and come from a hub
 * that the operator trusts.
 */
const ANSWER_LIMITS = { envelopeBytes: 256 * 1024 * 1024 };

/** The hub that the settings name, as its operator. */
export function hubClient({ settings, terminal, signal }: HubClientContext): HubClient {
  const asked = announcedHub(settings, terminal);
  const { url } = asked;
  const fetchHub = hubFetch(url);
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    try {
      return await fetchHub(path, { ...init, signal });
    } catch (cause) {
      signal.throwIfAborted();
      throw unanswered(asked, settings, cause);
    }
  };
  const proofs = new Proofs(settings, asked, (path) => send(path));
  const answered = async (given: string, init: HubRequest = {}): Promise<Response> => {
    const { method = "GET", body, headers: more } = init;
    // The path as it stands in the request line.
    const { pathname, search } = new URL(given, "http://hub");
    const path = pathname + search;
    const headers = new Headers(more);
    const proof = await proofs.header(method, path, body);
    if (proof !== undefined) headers.set("authorization", proof);
    const response = await send(path, { method, headers, ...(body !== undefined && { body }) });
    if (response.ok) return response;
    const error = errorOfResponse(response.status, await response.text());
    throw explained(error, asked, await proofs.told());
  };
  const read = async (response: Response): Promise<unknown> => {
    const text = await response.text();
    return text === "" ? undefined : parseJson(text, ANSWER_LIMITS);
  };
  return {
    url,
    asStranger: (path) => send(path),
    get: async (path) => read(await answered(path)),
    async post(path, value) {
      if (value === undefined) return read(await answered(path, { method: "POST" }));
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(value);
      return read(await answered(path, { method: "POST", body, headers }));
    },
    async *lines(path) {
      const { body } = await answered(path, { headers: { accept: NDJSON } });
      if (body === null) return;
      let rest = "";
      try {
        for await (const piece of body.pipeThrough(new TextDecoderStream())) {
          const lines = (rest + piece).split("\n");
          rest = lines.pop()!;
          yield* lines.filter((line) => line !== "");
        }
      } catch (cause) {
        signal.throwIfAborted();
        throw unanswered(asked, settings, cause);
      }
      if (rest !== "") yield rest;
    },
  };
}

interface HubRequest {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

const announced = new WeakSet<Terminal>();

/** The hub that the settings name. Announces once which one it is, and how it was found. */
export function announcedHub(settings: Settings, terminal: Terminal): WhichHub {
  const asked = whichHub(settings);
  if (announced.has(terminal)) return asked;
  announced.add(terminal);
  const { url, from } = asked;
  const text = (style: Style) => style.faint(`asking ${printable(url)} (from ${printable(from)})`);
  // A configuration file that was found, not named, may be anybody's: text output says so.
  const isFound = settings.origins.hub.source === "file" && !settings.isFileNamed;
  if (isFound && !terminal.isJson && !terminal.isQuiet) terminal.warn(text);
  else terminal.note(text);
  return asked;
}

/** If the address comes from the data folder, its hub has ended or was killed. */
function unanswered(asked: WhichHub, { origins }: Settings, cause: unknown): WaybillError {
  const { url, from } = asked;
  const error = unreachable(url, cause, from);
  if (origins.hub.source !== "default") return error;
  const advice =
    'Start it again with "waybill dev" in this folder, or name another hub with --hub, WAYBILL_HUB, or hub in waybill.json.';
  return new WaybillError(503, `${error.message} ${advice}`, { cause });
}

/**
 * A refusal says which hub refused; after a refusal of the operator it also says where the token came
 * from.
 */
function explained(error: WaybillError, { url, from }: WhichHub, standing: string): WaybillError {
  const isRefused = error.status === 401 || error.status === 403;
  const more = isRefused ? ` ${standing}` : "";
  const { status, message, at, retryAfterMs, retryable } = error;
  return new WaybillError(
    status,
    `${message}${more} The request went to the hub at ${url} (from ${from}).`,
    { cause: error, at, retryAfterMs, retryable },
  );
}
