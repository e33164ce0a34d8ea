import { expect, test } from "vitest";
import { newId } from "../id.ts";
import { keyring } from "../manifest/keyring.ts";
import { signManifest, verifyManifest } from "../manifest/manifest.ts";
import { digestOf } from "../signing/digest.ts";
import { generateKey } from "../signing/key.ts";
import { discardPath, verifyDiscard } from "./discard.ts";
import type { SignedRequest } from "./discard.ts";
import { signRequest } from "./request-proof.ts";

const AT = Date.now();
const ID = newId();
const REASON = "sent twice";
const key = generateKey();
const manifests = ["operator-1", "operator-2"].map((agent, index) =>
  verifyManifest(
    signManifest({ agent_id: agent, capabilities: [] }, index === 0 ? key : generateKey()),
    { at: AT },
  ),
);
const { keyOf } = keyring(manifests);

function signed(change: Partial<Parameters<typeof signRequest>[0]> = {}): SignedRequest {
  const body = JSON.stringify({ reason: REASON });
  const claim = {
    from: "operator-1",
    to: "hub",
    domain: key.kid,
    id: newId(),
    at: AT,
    method: "POST",
    path: discardPath(ID),
    bodyDigest: digestOf(body),
    ...change,
  };
  return { by: "operator-1", request: signRequest(claim, key).split(" ")[1]!, body };
}

const verify = (request: SignedRequest, reason = REASON) =>
  verifyDiscard(ID, { reason, signed: request }, { keyOf, at: AT });

test("a discard that its agent has signed holds", () => {
  expect(verify(signed())).toBe(key.kid);
});

test.for<[string, () => string]>([
  ["another reason", () => verify(signed(), "not needed")],
  ["another body", () => verify({ ...signed(), body: '{"reason":"not needed"}' }, "not needed")],
  ["another handoff", () => verify(signed({ path: discardPath(newId()) }))],
  ["another method", () => verify(signed({ method: "GET" }))],
  ["another agent than signed", () => verify({ ...signed(), by: "operator-2" })],
  [
    "the key of another agent",
    () => verify({ ...signed({ from: "operator-2" }), by: "operator-2" }),
  ],
  ["no body", () => verify(signed({ bodyDigest: undefined }))],
  [
    "another signature",
    () => verify({ ...signed(), request: `${signed().request.slice(0, -4)}AAAA` }),
  ],
])("a discard for %s does not hold", ([, made]) => {
  expect(made).toThrow(expect.objectContaining({ status: 401 }));
});
