/// <reference types="node" />
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerEntries, openHub, verifyLedger } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { createHandoff, generateKey, signEnvelope, signManifest } from "@waybill/protocol";
import { expect, test } from "vitest";
import { openSqliteStore } from "./sqlite-store.ts";

const PAGE = 4_096;

test("HARDENING 38: a hub whose disk is full refuses with 503, keeps its promises, and continues when there is space", async () => {
  const folder = await mkdtemp(join(tmpdir(), "waybill-full-"));
  const file = join(folder, "hub.db");
  const key = generateKey();
  const owner = generateKey();
  const opened = async (bytesMax?: number) => {
    const store = await openSqliteStore(file, bytesMax === undefined ? {} : { bytesMax });
    const hub = await openHub({ store, key });
    const served = await serveHub({ hub, store });
    const put = (path: string, method: string, body: object) =>
      fetch(served.url + path, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const close = async () => {
      await served.close();
      await hub.close();
      await store.close();
    };
    return { store, served, put, close };
  };
  const handoff = (input: string) =>
    createHandoff({
      from: "owner",
      domain: key.kid,
      to: "owner",
      body: { capability: "work", input },
      timeoutMs: 600_000,
    });

  const small = await opened(120 * PAGE);
  const manifest = signManifest({ agent_id: "owner", capabilities: [{ name: "work" }] }, owner);
  expect((await small.put("/v1/agents/owner", "PUT", { manifest })).status).toBe(200);
  const confirmed: string[] = [];
  let refused: string | undefined;
  while (refused === undefined) {
    const envelope = signEnvelope(handoff("x".repeat(50_000)), owner);
    const answer = await small.put("/v1/envelopes", "POST", { envelope });
    if (answer.status === 200) confirmed.push(envelope);
    else {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ waybill_status: 503, retryable: true });
      refused = envelope;
    }
  }
  expect(confirmed.length).toBeGreaterThan(0);
  // A commit would fail, and a load balancer can see that.
  for (let count = 0; count < 3; count++) {
    expect((await fetch(`${small.served.url}/readyz`)).status).toBe(503);
  }
  // It keeps answering, and takes what still fits.
  expect((await fetch(`${small.served.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${small.served.url}/v1/agents/owner`)).status).toBe(200);
  await small.close();

  const large = await opened();
  expect((await fetch(`${large.served.url}/readyz`)).status).toBe(200);
  for (const envelope of [...confirmed, refused]) {
    expect((await large.put("/v1/envelopes", "POST", { envelope })).status).toBe(200);
  }
  const contents = (await Array.fromAsync(ledgerEntries(large.store))).map(
    ({ content }) => content,
  );
  for (const envelope of [...confirmed, refused]) {
    expect(contents.filter((content) => content === envelope)).toHaveLength(1);
  }
  expect(await verifyLedger(ledgerEntries(large.store))).toMatchObject({ holds: true });
  await large.close();
  await rm(folder, { recursive: true });
});
