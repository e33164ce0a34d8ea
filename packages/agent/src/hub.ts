import type {
  AttemptState,
  CloseReason,
  FindQuery,
  Found,
  HandoffState,
  StatusCode,
  WaybillError,
} from "@waybill/protocol";

export interface AttachRequest {
  readonly agent: string;
  /** How many attempts it works on at once. */
  readonly credit: number;
  /** A new value tells the hub that the process is a new one. */
  readonly instance: string;
  /** The agent's signed hello. */
  readonly proof: string;
}

/**
 * When the hub took each of these envelopes in, by digest, in milliseconds since 1970. A key that was
 * good then may be retired when its word arrives.
 */
export type ReceivedAt = Readonly<Record<string, number>>;

/** What a hub sends to an agent. Everything may come more than once. */
export type Delivery =
  | {
      readonly type: "offer";
      readonly id: string;
      readonly handoffId: string;
      readonly attempt: number;
      readonly envelope: string;
      readonly remainingMs: number;
      readonly leaseMs: number;
      /** True for an attempt that this agent has accepted before: a new process knows nothing of it. */
      readonly isAccepted: boolean;
      /** The question that an earlier attempt paused with; it holds the state to go on from. */
      readonly resume?: string;
      /** All answers that the delegator has given so far. */
      readonly answers: readonly string[];
      readonly receivedAt: ReceivedAt;
    }
  | {
      readonly type: "envelope";
      readonly id: string;
      readonly handoffId: string;
      readonly envelope: string;
      readonly receivedAt: ReceivedAt;
    }
  /** The attempt is closed: the work is to stop. */
  | {
      readonly type: "stop";
      readonly handoffId: string;
      readonly attempt: number;
      readonly status: StatusCode;
      readonly reason: string;
    };

export interface Attachment {
  taken(handoffId: string, attempt: number): void;
  heartbeat(handoffId: string, attempt: number): void;
  /** The delivery with this id has arrived. */
  seen(deliveryId: string): void;
  setCredit(credit: number): void;
  close(): Promise<void>;
  /** Settles when the attachment has ended: with the reason, or with nothing when it was closed. */
  readonly closed: Promise<WaybillError | undefined>;
}

export interface AttemptView {
  readonly number: number;
  readonly recipient: string;
  readonly state: AttemptState;
  readonly closed: CloseReason | null;
  readonly status: StatusCode;
}

/** What a party of a handoff may know of it. Envelopes are as they were signed. */
export interface HandoffView {
  readonly id: string;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly deadline: number;
  readonly attempts: readonly AttemptView[];
  readonly isAcknowledged: boolean;
  readonly envelope: string;
  /** The last acceptance. */
  readonly acceptance?: string;
  /** Questions that wait for an answer. */
  readonly questions: readonly string[];
  /** The envelope that ended it, or the hub's notice where none did. */
  readonly ending?: string;
  readonly receivedAt: ReceivedAt;
}

/** A signed manifest, and when the hub took it in, in milliseconds since 1970. */
export interface PublishedManifest {
  readonly text: string;
  readonly at: number;
}

/** All that an agent needs of a hub, whether it is in the same process or behind a socket. */
export interface Hub {
  readonly id: string;
  /** Takes one envelope into custody; settles after the commit, with the hub's signed receipt. */
  submit(envelope: string): Promise<string>;
  publish(manifest: string): Promise<void>;
  /** All manifests of one agent by sequence, or the newest of everyone who offers a capability. */
  manifests(
    query: { readonly agent: string } | { readonly capability: string },
  ): Promise<readonly PublishedManifest[]>;
  find(query: FindQuery): Promise<Found>;
  /** What the next hello must carry, where there is a wire between the two. */
  challenge?(): Promise<string>;
  attach(request: AttachRequest, handler: (delivery: Delivery) => void): Promise<Attachment>;
  /** What the hub knows of a handoff that `as` is party of; undefined for everybody else. */
  handoff(id: string, as: string): Promise<HandoffView | undefined>;
}
