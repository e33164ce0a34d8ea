import { WaybillError } from "@waybill/protocol";
import { errorOfResponse } from "@waybill/protocol/wire";
import { proofOf, session, signOut } from "./session.ts";

const NDJSON = "application/x-ndjson";

/** Asks the hub as whoever is signed in. */
export async function get<Answer>(
  path: string,
  signal?: AbortSignal,
  prove?: Prove,
): Promise<Answer> {
  return (await (await send("GET", path, { signal, prove })).json()) as Answer;
}

/** The text of an answer that is not JSON. */
export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return (await send("GET", path, { signal })).text();
}

/** The bytes of an answer, in pieces as they arrive. */
export async function* bytes(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { body } = await send("GET", path, { signal });
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Makes the Authorization header of one request; undefined for a request that needs none. */
export type Prove = (
  method: string,
  path: string,
  body: string | undefined,
) => Promise<string | undefined>;

/** Sends JSON; the answer is undefined if it is empty. By default it is proven with the session. */
export async function post<Answer>(path: string, value?: unknown, prove?: Prove): Promise<Answer> {
  return written("POST", path, value, prove);
}

/** The same with the method PUT. */
export async function put<Answer>(path: string, value: unknown, prove?: Prove): Promise<Answer> {
  return written("PUT", path, value, prove);
}

async function written<Answer>(
  method: string,
  path: string,
  value?: unknown,
  prove?: Prove,
): Promise<Answer> {
  const body = value === undefined ? undefined : JSON.stringify(value);
  const text = await (await send(method, path, { body, prove })).text();
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

/** The lines of a stream in batches, as they arrive. */
export async function* lines(path: string, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  const { body } = await send("GET", path, { signal, accept: NDJSON });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const found = (rest + value).split("\n");
      rest = found.pop()!;
      // Empty lines keep the connection alive.
      yield found.filter((line) => line !== "");
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

interface Sent {
  readonly body?: string | undefined;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  readonly prove?: Prove | undefined;
}

async function send(
  method: string,
  path: string,
  { body, accept, signal, prove }: Sent,
): Promise<Response> {
  const current = session.value;
  if (!current) throw new WaybillError(401, "Nobody is signed in.");
  const authorization = await (prove ?? proofOf.bind(undefined, current))(method, path, body);
  const headers: Record<string, string> = {
    ...(authorization !== undefined && { authorization }),
    ...(accept !== undefined && { accept }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      // A redirect would lead to another server.
      redirect: "error",
      cache: "no-store",
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new WaybillError(503, "The hub does not answer. Try again once it is back.", { cause });
  }
  if (response.ok) return response;
  const error = errorOfResponse(response.status, await response.text());
  if (error.status === 401 && prove === undefined) await signOut(error.message);
  throw error;
}
