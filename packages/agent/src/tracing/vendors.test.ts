/// <reference types="node" />
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";

const PAGE = new URL("../../TRACING.md", import.meta.url);
const EXAMPLE = new URL("../../examples/tracing.ts", import.meta.url);

/** The settings under a vendor's heading in TRACING.md. */
async function settingsOf(vendor: string): Promise<Record<string, string>> {
  const page = await readFile(PAGE, "utf8");
  const [, block = ""] = page.split(`## ${vendor}\n`)[1]!.split("```sh\n");
  const lines = block.split("```")[0]!.trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => [line.split("=")[0]!, line.replace(/^[^=]+=/, "")]),
  );
}

interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Runs the page's example with a vendor's settings, and returns what a local receiver got in place of
 * the vendor.
 */
async function postedWith(vendor: string): Promise<{ said: string; posted: Posted[] }> {
  const posted: Posted[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url: path = "", headers } = request;
    const raw = Buffer.concat(chunks);
    const body = headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
    posted.push({ path: `${request.method} ${path}`, headers, body });
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  };
  const receiver = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
  const keys = await mkdtemp(join(tmpdir(), "waybill-tracing-"));
  try {
    const settings = await settingsOf(vendor);
    const endpoint = new URL(settings["OTEL_EXPORTER_OTLP_ENDPOINT"]!);
    const { port } = receiver.address() as AddressInfo;
    const local = `http://127.0.0.1:${port}${endpoint.pathname}`;
    const env = {
      ...process.env,
      ...settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: local,
      WAYBILL_KEYS: keys,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE.pathname], { env });
    return { said: stdout, posted };
  } finally {
    receiver.close();
    await rm(keys, { recursive: true });
  }
}

// No account of a vendor is reachable from here. The test shows that the exporter posts what the page
// says, with the page's settings; it does not show what a vendor does with it.
test.each([
  [
    "LangSmith",
    "/otel/v1/traces",
    { "x-api-key": "YOUR_API_KEY", "langsmith-project": "YOUR_PROJECT" },
  ],
  [
    "Langfuse",
    "/api/public/otel/v1/traces",
    { authorization: "Basic YOUR_BASE64_KEYS", "x-langfuse-ingestion-version": "4" },
  ],
])(
  "with the page's settings for %s the exporter posts spans there",
  async (vendor, path, headers) => {
    const { said, posted } = await postedWith(vendor);
    expect(said).toBe("LAND AHOY\n");
    expect(posted.length).toBeGreaterThan(0);
    for (const each of posted) {
      expect(each.path).toBe(`POST ${path}`);
      expect(each.headers).toMatchObject({ ...headers, "content-type": "application/x-protobuf" });
    }
    const bodies = Buffer.concat(posted.map(({ body }) => body)).toString("latin1");
    const told = [
      "send shout",
      "custody shout",
      "process shout",
      "invoke_agent anna",
      "gen_ai.usage.input_tokens",
      "gpt-5",
    ];
    expect(told.filter((each) => !bodies.includes(each))).toEqual([]);
    expect(bodies.toLowerCase()).not.toContain("land ahoy");
  },
);
