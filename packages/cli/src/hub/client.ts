/// <reference types="node" />
import { parseJson, WaybillError } from "@waybill/protocol";
import { errorOfResponse } from "@waybill/protocol/api";
import type { Settings } from "../settings/settings.ts";

export interface HubClient {
  readonly url: string;
  get(path: string): Promise<unknown>;
  post(path: string, body?: unknown): Promise<unknown>;
  /** The lines of a stream, as they come. */
  lines(path: string): AsyncGenerator<string>;
  /** The answer as it is, to somebody without a token. */
  asStranger(path: string): Promise<Response>;
}

const NDJSON = "application/x-ndjson";
/** What a hub takes in one body; its answers are larger, and come from whom the operator trusts. */
const ANSWER_LIMITS = { envelopeBytes: 256 * 1024 * 1024 };

/** The hub that the settings name, as its operator. */
export function hubClient(settings: Settings, signal: AbortSignal): HubClient {
  const { hub: url, token } = settings.values;
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    try {
      return await fetch(url + path, { ...init, signal, redirect: "error" });
    } catch (cause) {
      signal.throwIfAborted();
      throw unreachable(settings, cause);
    }
  };
  const answered = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const response = await send(path, { ...init, headers });
    if (response.ok) return response;
    throw explained(errorOfResponse(response.status, await response.text()), settings);
  };
  const read = async (response: Response): Promise<unknown> => {
    const text = await response.text();
    return text === "" ? undefined : parseJson(text, ANSWER_LIMITS);
  };
  return {
    url,
    asStranger: (path) => send(path),
    get: async (path) => read(await answered(path)),
    async post(path, body) {
      const init: RequestInit = { method: "POST" };
      if (body !== undefined) {
        init.body = JSON.stringify(body);
        init.headers = { "content-type": "application/json" };
      }
      return read(await answered(path, init));
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
        throw unreachable(settings, cause);
      }
      if (rest !== "") yield rest;
    },
  };
}

function unreachable(settings: Settings, cause: unknown): WaybillError {
  const { values, origins } = settings;
  const why = reasonOf(cause);
  const from = origins.hub.source === "default" ? "" : ` (from ${origins.hub.name})`;
  const advice =
    origins.hub.source === "default"
      ? `Start one with "waybill dev" in this folder, or say where it is: --hub, WAYBILL_HUB, or hub in waybill.json.`
      : "Check that address, and that the hub runs there.";
  return new WaybillError(503, `No hub answers at ${values.hub}${from}: ${why}. ${advice}`, {
    cause,
  });
}

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the name is not known",
  ECONNRESET: "the connection was cut",
  EAI_AGAIN: "the name can't be looked up just now",
  UND_ERR_SOCKET: "the connection was cut",
  UND_ERR_CONNECT_TIMEOUT: "it took too long to connect",
};

function reasonOf(error: unknown): string {
  const { code, message, cause } = error as { code?: string; message: string; cause?: unknown };
  if (code !== undefined && Object.hasOwn(WHY, code)) return WHY[code]!;
  return cause === undefined ? message : reasonOf(cause);
}

/** Who is refused as operator is told where the token came from. */
function explained(error: WaybillError, { values, origins }: Settings): WaybillError {
  if (error.status !== 401 && error.status !== 403) return error;
  const { name, source } = origins.token;
  const used =
    values.token === undefined
      ? `No operator token was sent: there is none in ${name.replace(", which is not there", "")}.`
      : `The operator token that was sent is from ${name}.`;
  const advice =
    source === "default"
      ? "Run the command where the hub was started, or name its folder with --data, or give the token with --token or WAYBILL_TOKEN."
      : "Compare it with operator.token in the data folder of the hub.";
  return new WaybillError(error.status, `${error.message} ${used} ${advice}`, { cause: error });
}
