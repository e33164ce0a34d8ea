/// <reference types="node" />
import { consolePage } from "@waybill/console";
import type { PageFile } from "@waybill/console";
import { WaybillError } from "@waybill/protocol";
import { formatTime, httpShapes } from "@waybill/protocol/wire";
import { Bytes, operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const PAGE = "index.html";
const COMPRESSION = { "accept-encoding": "gzip, if the answer may be compressed." } as const;

type Header = (name: string) => string | undefined;

export function consoleOperations(): readonly AnyOperation[] {
  const { newConsoleLink, consoleLink, consoleCode, consoleSession, consoleHost, ofFile } =
    httpShapes();
  return [
    operation({
      id: "getConsole",
      method: "GET",
      path: "/console",
      summary: "The console: the page on which people see what the hub does, and act on it.",
      cost: "O(1): a file of fixed length.",
      who: "anyone",
      headers: COMPRESSION,
      answer: "text/html",
      refusals: [],
      handle: ({ header }) => fileNamed(PAGE, header),
    }),
    operation({
      id: "getConsoleFile",
      method: "GET",
      path: "/console/{file}",
      summary: "A file of the console.",
      cost: "O(1): a file of fixed length.",
      who: "anyone",
      params: ofFile,
      headers: COMPRESSION,
      answer: "text/javascript",
      otherTypes: ["text/css", "text/html", "image/svg+xml"],
      refusals: [404],
      handle: ({ header, params: { file } }) => fileNamed(file, header),
    }),
    operation({
      id: "getConsoleHost",
      method: "GET",
      path: "/v1/console/host",
      summary:
        "The host that the console names in its proofs: null for the one in the address of the page.",
      cost: "O(1).",
      who: "anyone",
      answer: consoleHost,
      refusals: [],
      handle: async () => ({ host: null }),
    }),
    operation({
      id: "createConsoleLink",
      method: "POST",
      path: "/v1/console/links",
      summary: "Makes a code that signs in to the console once, within an hour.",
      cost: "O(1): at most 100 codes are kept, in memory.",
      who: "operator",
      body: newConsoleLink,
      answer: consoleLink,
      refusals: [],
      async handle({ served, body: { role = "operator" } }) {
        const { code, until } = served.sessions.invite(role, served.hub.operator.now());
        return { code, role, expires_at: formatTime(until) };
      },
    }),
    operation({
      id: "openConsoleSession",
      method: "POST",
      path: "/v1/console/sessions",
      summary:
        "Opens the session of a code. Over plain HTTP from another machine it may only read.",
      cost: "O(1): two hashes.",
      who: "anyone",
      body: consoleCode,
      answer: consoleSession,
      refusals: [],
      async handle({ served, isLocal, body: { code } }) {
        const isPrivate = isLocal || served.url.startsWith("https:");
        return served.sessions.open(code, served.hub.operator.now(), isPrivate);
      },
    }),
  ];
}

/** Browsers are told what the page may do: load its own files, and ask this hub. */
async function fileNamed(name: string, header: Header): Promise<Bytes> {
  const { files, headers } = await consolePage();
  const file = files.get(name);
  if (file === undefined) {
    throw new WaybillError(404, `The console has no file ${name}. Reload the page: /console.`);
  }
  const { bytes, encoding } = contentOf(file, header);
  return new Bytes(
    200,
    {
      ...headers,
      ...encoding,
      "content-type": file.type,
      "content-length": String(bytes.length),
      "cache-control": file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
    },
    oneOf(bytes),
  );
}

function contentOf({ bytes, compressed }: PageFile, header: Header) {
  const isCompressed = /\bgzip\b/.test(header("accept-encoding") ?? "");
  return isCompressed
    ? { bytes: compressed, encoding: { "content-encoding": "gzip" } }
    : { bytes, encoding: {} };
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
