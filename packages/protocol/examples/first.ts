import {
  createHandoff,
  createReply,
  generateKey,
  signEnvelope,
  step,
  verifyEnvelope,
  STATUS,
} from "@waybill/protocol";
import type { KeyRecord, LifecycleEvent } from "@waybill/protocol";

// Two agents, each with a key of its own, who know each other's public half.
const keys = { "editor-001": generateKey(), "research-agent-001": generateKey() };
const ring = new Map<string, KeyRecord>();
for (const [agent, key] of Object.entries(keys)) {
  ring.set(key.kid, { agent, key: publicKeyFrom(key.jwk), notBefore: 0, notAfter: Infinity });
}
const keyOf = (kid: string) => ring.get(kid);
