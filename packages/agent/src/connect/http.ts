/// <reference types="node" />
import { parseJson, WaybillError } from "@waybill/protocol";
import { errorOfResponse } from "@waybill/protocol/api";

/** All manifests of one agent come in one answer. */
const ANSWER_CHARACTERS = 64 * 1024 * 1024;

export interface Request {
  readonly method?: "GET" | "POST" | "PUT";
  readonly body?: object;
  readonly signal: AbortSignal;
}

/** One request to a hub, and the JSON that it answers with. Everybody may make these; they are not signed. */
export async function request(url: string, options: Request): Promise<unknown> {
  const { method = "GET", body, signal } = options;
  let status: number;
  let text: string;
  try {
    const response = await fetch(url, {
      method,
      signal,
      // What is sent to a hub is meant for nobody else.
      redirect: "manual",
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    status = response.status;
    text = await textOf(response);
  } catch (error) {
    throw WaybillError.is(error) ? error : outOfReach(url, error);
  }
  if (status >= 300 && status <= 399) {
    throw new WaybillError(
      404,
      `${url} redirects to another address: connect to that one if it is the hub's.`,
    );
  }
  if (status < 200 || status > 299) throw errorOfResponse(status, text);
  return text === "" ? undefined : parseJson(text, { envelopeBytes: ANSWER_CHARACTERS });
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > ANSWER_CHARACTERS) {
      throw new WaybillError(
        413,
        `${response.url} answers with more than ${ANSWER_CHARACTERS} characters.`,
      );
    }
  }
  return text + decoder.decode();
}

/** `fetch` says "fetch failed", and what has failed is one cause further down. */
function outOfReach(url: string, error: unknown): WaybillError {
  const { cause, message } = error as { cause?: unknown; message?: string };
  const reason = (cause as { message?: string } | undefined)?.message || message;
  return new WaybillError(503, `${url} is out of reach: ${reason}.`, { cause: error });
}
