/// <reference types="node" />
import { createInterface } from "node:readline";
import { newId } from "@waybill/protocol";
import { signOperatorRequest } from "@waybill/protocol/wire";
import type { Processes } from "./processes.ts";

const WAYBILL = new URL("src/waybill.ts", import.meta.resolve("waybill/package.json"));

/** The hub's id. */
export const HUB = "hub";

export interface RunningHub {
  readonly url: string;
  readonly token: string;
  readonly database: string;
}

/** A hub as anybody starts one: `waybill dev` in its own process, over a file. */
export async function startHub(processes: Processes, folder: string): Promise<RunningHub> {
  const args = ["dev", "--data", folder, "--port", "0", "--json"];
  const child = processes.start(HUB, WAYBILL, args, { WAYBILL_HUB_ID: HUB });
  const lines = createInterface({ input: child.stdout! });
  const first = new Promise<string>((resolve) => lines.once("line", resolve));
  const { url, operator_token, database } = JSON.parse(
    await Promise.race([first, processes.broken]),
  ) as { url: string; operator_token: string; database: string };
  return { url, token: operator_token, database };
}

/** As its operator, with a proof for this one request. */
function askAsOperator(
  { url, token }: RunningHub,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const { host } = new URL(url);
  const claim = { host, id: newId(), at: Date.now(), method: "GET", path };
  const headers = new Headers(init.headers);
  headers.set("authorization", signOperatorRequest(claim, token));
  return fetch(url + path, { ...init, headers, redirect: "error" });
}

export async function askHub(hub: RunningHub, path: string): Promise<Response> {
  const response = await askAsOperator(hub, path);
  if (response.ok) return response;
  throw new Error(`The hub answers ${response.status} to ${path}: ${await response.text()}`);
}

/** All entries of the ledger from the first one on, as they are written. */
export async function* watchLedger(hub: RunningHub, signal: AbortSignal): AsyncGenerator<string> {
  const headers = { accept: "application/x-ndjson" };
  const response = await askAsOperator(hub, "/v1/watch?after=0", { headers, signal });
  let rest = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line !== "") yield `${line}\n`;
  }
}
