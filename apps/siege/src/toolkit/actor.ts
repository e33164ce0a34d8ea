/// <reference types="node" />
import {
  digestOfJws,
  digestOfBytes,
  generateKey,
  newId,
  newSalt,
  signCompact,
} from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import type { Place } from "./place.ts";

/** What one must know of a handoff to send envelopes about it. */
export interface Known {
  readonly handoffId: string;
  readonly correlationId: string;
  readonly from: string;
  readonly text: string;
  readonly digest: string;
}

type Members = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;

/**
 * An agent with a key that signs anything: it writes payloads member by member, without checking a
 * schema.
 */
export class Actor {
  readonly id: string;
  readonly place: Place;
  key: PrivateKey = generateKey();
  #sequence = 0;
  #previous: string | undefined;

  constructor(id: string, place: Place) {
    this.id = id;
    this.place = place;
  }

  /** Acts as if it had never published, after the hub refused its manifest. */
  forget(): this {
    this.#sequence = 0;
    this.#previous = undefined;
    return this;
  }

  /** Its next manifest, signed. */
  manifest(capabilities: readonly unknown[], more: object = {}): string {
    const text = this.sign({
      waybill: 1,
      kind: "manifest",
      agent_id: this.id,
      capabilities,
      sequence: ++this.#sequence,
      previous: this.#previous,
      keys: [this.key.jwk],
      ...more,
    });
    this.#previous = digestOfJws(text);
    return text;
  }

  /** Its next manifest, with a new key in place of the one that signs it. */
  rotation(capabilities: readonly unknown[]): string {
    const next = generateKey();
    const held = `waybill key 1\n${this.id}\n${next.kid}\nsign`;
    const proof = Buffer.from(next.sign(new TextEncoder().encode(held))).toString("base64url");
    const text = this.manifest(capabilities, { keys: [{ ...next.jwk, proof }] });
    this.key = next;
    return text;
  }

  /** The Authorization header of one request. */
  proof(method: string, path: string, body?: string, more: object = {}): string {
    const claim = {
      ...this.#now("request"),
      id: newId(),
      method,
      path,
      body_digest: body === undefined ? undefined : digestOfBytes(new TextEncoder().encode(body)),
      ...more,
    };
    return `Waybill ${this.sign(claim)}`;
  }

  hello(nonce: string, instance: string, more: object = {}): string {
    return this.sign({ ...this.#now("hello"), instance, id: newId(), nonce, ...more });
  }

  #now(kind: string): Members {
    const { hub, domain } = this.place;
    const at = new Date().toISOString();
    return { waybill: 1, kind, from: this.id, to: hub, domain, at };
  }

  /** A handoff of its own. `body` holds at least the capability. */
  handoff(to: unknown, body: object, more: Members & { readonly withinMs?: number } = {}): Known {
    const { withinMs = MINUTE_MS, ...members } = more;
    const handoffId = newId();
    const correlationId = newId();
    const now = Date.now();
    const envelope = {
      waybill: 1,
      kind: "handoff",
      id: handoffId,
      from: this.id,
      to,
      domain: this.place.domain,
      handoff_id: handoffId,
      correlation_id: correlationId,
      issued_at: new Date(now).toISOString(),
      salt: newSalt(),
      deadline: new Date(now + withinMs).toISOString(),
      body,
      ...members,
    };
    const text = this.sign(envelope);
    return {
      handoffId: envelope.handoff_id,
      correlationId: envelope.correlation_id,
      from: this.id,
      text,
      digest: digestOfJws(text),
    };
  }

  /** An envelope about a handoff, its own or another agent's. */
  about(handoff: Known, kind: string, body: object, more: Members = {}): string {
    return this.sign({
      waybill: 1,
      kind,
      id: newId(),
      from: this.id,
      to: handoff.from,
      handoff_id: handoff.handoffId,
      correlation_id: handoff.correlationId,
      issued_at: new Date().toISOString(),
      salt: newSalt(),
      re: handoff.digest,
      body,
      ...more,
    });
  }

  sign(payload: object): string {
    return this.signText(JSON.stringify(payload));
  }

  /** Signs a payload that need not be JSON, of any length. */
  signText(payload: string): string {
    return signCompact(payload, this.key, { envelopeBytes: Infinity });
  }
}

/** What an envelope shows of its handoff. */
export function knownBy(text: string): Known {
  const [, payload = ""] = text.split(".");
  const value = JSON.parse(Buffer.from(payload, "base64url").toString()) as {
    handoff_id: string;
    correlation_id: string;
    from: string;
  };
  return {
    handoffId: value.handoff_id,
    correlationId: value.correlation_id,
    from: value.from,
    text,
    digest: digestOfJws(text),
  };
}
