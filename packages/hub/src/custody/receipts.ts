import { signPayloads } from "@waybill/protocol/hub";
import type {
  ListedHandoff,
  PrivateKey,
  ReceiptEnvelope,
  RefusedHandoff,
  StatusCode,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";

/** An envelope that must be confirmed. */
export interface Confirmation {
  readonly of: VerifiedEnvelope;
  /** Further envelopes of the same sender, about other handoffs, that the receipt confirms too. */
  readonly also?: readonly VerifiedEnvelope[];
  readonly status: StatusCode;
  /** The id of the receipt, if it must be found again. */
  readonly id?: string;
  /** For an acknowledgement of several: the handoffs that were not acknowledged. */
  readonly refused?: readonly RefusedHandoff[];
}

interface ReceiptSource {
  newId(): string;
  newSalt(): string;
}

/** Custody receipts: those of one group commit share one signature. */
export class Receipts {
  readonly #hub: string;
  readonly #key: PrivateKey;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #newSalt: () => string;

  constructor(hub: string, key: PrivateKey, clock: Clock, source: ReceiptSource) {
    this.#hub = hub;
    this.#key = key;
    this.#clock = clock;
    this.#newId = () => source.newId();
    this.#newSalt = () => source.newSalt();
  }

  /** The custody receipts for envelopes. None may be sent before the commit that makes it true. */
  sign(confirmations: readonly Confirmation[]): VerifiedEnvelope[] {
    const issuedAt = new Date(this.#clock.now()).toISOString();
    const receipts = confirmations.map((each) => this.#receipt(each, issuedAt));
    // Made here from verified values, so that nothing needs to be checked again.
    const payloads = receipts.map((receipt) => JSON.stringify(receipt));
    const signed = signPayloads(payloads, this.#key);
    return receipts.map((envelope, index) => ({
      envelope,
      ...signed[index]!,
      kid: this.#key.kid,
    }));
  }

  #receipt(confirmation: Confirmation, issuedAt: string): ReceiptEnvelope {
    const { of, also = [], status, id = this.#newId(), refused = [] } = confirmation;
    const { envelope, digest } = of;
    const { traceparent } = envelope;
    return {
      waybill: 1,
      kind: "receipt",
      id,
      from: this.#hub,
      to: envelope.from,
      handoff_id: envelope.handoff_id,
      correlation_id: envelope.correlation_id,
      issued_at: issuedAt,
      salt: this.#newSalt(),
      ...(traceparent === undefined ? {} : { traceparent }),
      re: digest,
      body: {
        status,
        ...(also.length > 0 && { also: also.map(listed) }),
        ...(refused.length > 0 && { refused: [...refused] }),
      },
    };
  }
}

function listed({ envelope, digest }: VerifiedEnvelope): ListedHandoff {
  return { handoff_id: envelope.handoff_id, re: digest };
}
