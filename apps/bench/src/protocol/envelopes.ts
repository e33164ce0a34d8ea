import { createHandoff, publicKeyFrom, signEnvelope } from "@waybill/protocol";
import type { HandoffInput, PrivateKey, VerifyOptions } from "@waybill/protocol";

/** The bytes of an envelope, which travels as one string. */
export const ENVELOPE_BYTES = 1024;
/** How many different envelopes take turns, so that no cache knows one from the call before. */
export const POOL = 512;

const FROM = "editor-001";
const TO = "research-agent-001";
const DOMAIN = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
const WORDS = "which carriers still confirm every delivery on paper and what do they charge".split(
  " ",
);

/** The input of 512 different handoffs of 1 KiB. */
export function handoffInputs(key: PrivateKey): HandoffInput[] {
  return Array.from({ length: POOL }, (_, index) => {
    const { length } = signEnvelope(createHandoff(inputWith("", index)), key);
    // Four characters of base64url encode three of the text.
    const missing = Math.floor(((ENVELOPE_BYTES - length) * 3) / 4);
    return inputWith(text(missing, index), index);
  });
}

function inputWith(question: string, index: number): HandoffInput {
  return {
    from: FROM,
    domain: DOMAIN,
    to: TO,
    timeoutMs: 120_000,
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    body: {
      capability: "web_research",
      version: "1",
      input: { question, max_sources: 10 + (index % 10), languages: ["en", "de"], since: null },
    },
  };
}

function text(length: number, seed: number): string {
  let result = String(seed);
  for (let i = seed; result.length < length; i += 1 + (seed % 5)) {
    result += ` ${WORDS[i % WORDS.length]!}`;
  }
  return result.slice(0, length);
}

/** The trust options for envelopes signed with `key`. */
export function trusting(key: PrivateKey): VerifyOptions {
  const record = {
    agent: FROM,
    key: publicKeyFrom(key.publicKey),
    notBefore: -Infinity,
    notAfter: Infinity,
  };
  const keys = new Map([[key.kid, record]]);
  return { keyOf: (kid) => keys.get(kid), at: Date.now(), to: TO };
}
