/// <reference types="node" />
// An agent in its own process, so that its memory can be measured: it sends a file, or receives one.
import { createHash } from "node:crypto";
import process from "node:process";
import { createAgent, generateKey } from "@waybill/agent";
import type { Blobs } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";

const [url, role, path] = process.argv.slice(2) as [string, string, string];
const hub = await connect(url);
const id = role === "sends" ? `owner-${process.pid}` : "worker";
const agent = createAgent({ id, key: generateKey(), hub });
if (role === "sends") {
  watch(hub.blobs!);
  const { result } = agent.handoff({
    capability: "take",
    artifacts: [{ path }],
    timeoutMs: 600_000,
  });
  const { output, artifacts } = await result;
  await artifacts[0]!.save(`${path}.back`);
  tell({ output });
  await agent.stop();
  await hub.close();
} else {
  agent.serve({ name: "take", lease_seconds: 60 }, async ({ artifacts: [film], result }) => {
    const hash = createHash("sha256");
    for await (const bytes of film!.stream()) hash.update(bytes);
    await film!.save(path);
    const output = { digest: `sha256:${hash.digest("hex")}`, rss: process.resourceUsage().maxRSS };
    return result({ output, artifacts: [{ path }] });
  });
  await agent.start();
  tell({ ready: true });
}

/** Reports the offset of each upload's start, and when the first is half done. */
function watch(blobs: Blobs): void {
  const put = blobs.put.bind(blobs);
  blobs.put = (part, bytes) => {
    tell({ from: part.from });
    return put(part, halfway(bytes, part.size / 2 - part.from!));
  };
}

async function* halfway(bytes: AsyncIterable<Uint8Array>, at: number): AsyncIterable<Uint8Array> {
  let passed = 0;
  for await (const piece of bytes) {
    yield piece;
    if (passed < at && passed + piece.length >= at) tell({ halfway: true });
    passed += piece.length;
  }
}

function tell(said: object): void {
  console.log(JSON.stringify({ ...said, rss: process.resourceUsage().maxRSS }));
}
