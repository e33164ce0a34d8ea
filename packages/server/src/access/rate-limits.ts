import type { WaybillError } from "@waybill/protocol";
import type { DoorName, Budgets } from "../budgets.ts";
import { Rates, tooMany } from "./rates.ts";

/** What one request has cost so far, and who pays for it. */
export interface Toll {
  readonly address: string;
  /** The bytes of its body, as far as they are known. */
  bytes: number;
  /** What its address has paid. */
  readonly paid: { requests: number; bytes: number };
  /** Whether its address pays for the rest of its body. */
  isStrangers: boolean;
}

/** What is known about a request from its headers. */
export interface Arrival {
  readonly address: string;
  readonly bytes: number;
  /** It has a proof, which is checked before its body is read. Then its agent pays for the body. */
  readonly isSigned: boolean;
  /** An agent has authenticated on this connection before: the request costs its address nothing. */
  readonly isTrusted: boolean;
}

const EVERYBODY = "";
/** Budgets of an agent, of its address, and of all addresses. */
const UPLOAD_BUDGETS = [
  "uploadBytesPerAgent",
  "uploadBytesPerAddress",
  "uploadBytesPerHub",
] as const;
const SECONDS_PER_MINUTE = 60;
/** Budgets of an agent, and of all agents. */
const DOWNLOAD_BUDGETS = ["downloadBytesPerAgent", "downloadBytesPerHub"] as const;
/** A budget of all agents. */
const HISTORY_BUDGETS = ["historyBytesPerHub"] as const;
type ByteBudget = (
  | typeof UPLOAD_BUDGETS
  | typeof DOWNLOAD_BUDGETS
  | typeof HISTORY_BUDGETS
)[number];

/**
 * The cost of requests. Strangers pay for what they send before it is read, each address from its own
 * budget and all of them from a common one. Agents pay themselves.
 */
export class RateLimits {
  readonly #budgets: Budgets;
  readonly #requests: readonly Share[];
  readonly #bytes: readonly Share[];
  readonly #manifests: readonly Share[];
  readonly #attachments: Rates;
  readonly #calls: Rates;
  readonly #agentBytes: Rates;
  readonly #uploadBytes: readonly Share[];
  readonly #downloadBytes: readonly Share[];
  readonly #historyBytes: readonly Share[];
  readonly #tolls = new WeakMap<object, Toll>();

  constructor(budgets: Budgets) {
    const { limits } = budgets;
    this.#budgets = budgets;
    this.#requests = [
      {
        budget: "requestsPerAddress",
        rates: new Rates(limits.requestsPerAddress, limits.burstPerAddress),
      },
      {
        budget: "strangerRequestsPerHub",
        rates: new Rates(limits.strangerRequestsPerHub, limits.strangerBurstPerHub),
        key: EVERYBODY,
      },
    ];
    this.#bytes = [
      {
        budget: "bytesPerAddress",
        rates: new Rates(limits.bytesPerAddress, limits.burstBytesPerAddress),
      },
      {
        budget: "strangerBytesPerHub",
        rates: new Rates(limits.strangerBytesPerHub, limits.strangerBurstBytesPerHub),
        key: EVERYBODY,
      },
    ];
    this.#manifests = [
      {
        budget: "manifestBytesPerAddress",
        rates: new Rates(limits.manifestBytesPerAddress, limits.manifestBurstPerAddress),
      },
      {
        budget: "manifestBytesPerHub",
        rates: new Rates(limits.manifestBytesPerHub, limits.manifestBurstPerHub),
        key: EVERYBODY,
      },
    ];
    this.#attachments = new Rates(
      limits.attachmentsPerAgent / SECONDS_PER_MINUTE,
      limits.attachmentBurstPerAgent,
    );
    this.#calls = new Rates(limits.callsPerAgent, limits.burstPerAgent);
    this.#agentBytes = new Rates(limits.bytesPerAgent, limits.burstBytesPerAgent);
    const ofSecond = (budget: ByteBudget): Share => ({
      budget,
      rates: new Rates(limits[budget], limits[budget]),
    });
    this.#uploadBytes = UPLOAD_BUDGETS.map(ofSecond);
    this.#downloadBytes = DOWNLOAD_BUDGETS.map(ofSecond);
    this.#historyBytes = HISTORY_BUDGETS.map(ofSecond);
  }

  /** Charges an upload to its agent: for how many milliseconds to stop reading. */
  takeUpload(agent: string, address: string, count: number): number {
    return this.#takeAll(this.#uploadBytes, [agent, address, EVERYBODY], count);
  }

  /** Charges a streamed answer to its agent: for how many milliseconds to send nothing more. */
  takeDownload(agent: string, count: number): number {
    return this.#takeAll(this.#downloadBytes, [agent, EVERYBODY], count);
  }

  /** Charges an entry that was read for an agent: for how many milliseconds to read nothing more. */
  takeHistory(count: number): number {
    return this.#takeAll(this.#historyBytes, [EVERYBODY], count);
  }

  #takeAll(shares: readonly Share[], keys: readonly string[], count: number): number {
    const waits = shares.map(({ budget, rates }, index) =>
      this.#take(budget, rates, keys[index]!, count),
    );
    return Math.max(...waits);
  }

  note(request: object, toll: Toll): void {
    this.#tolls.set(request, toll);
  }

  /** What a received request has paid. */
  of(request: object): Toll {
    return this.#tolls.get(request)!;
  }

  enter({ address, bytes, isSigned, isTrusted }: Arrival): Toll {
    const now = Date.now();
    const paid = { requests: isTrusted ? 0 : 1, bytes: isSigned ? 0 : bytes };
    this.#check(this.#requests, address, now, paid.requests);
    this.#check(this.#bytes, address, now, paid.bytes);
    charge(this.#requests, address, now, paid.requests);
    charge(this.#bytes, address, now, paid.bytes);
    return { address, bytes, paid, isStrangers: true };
  }

  /** Charges more of a body without a stated length. */
  more(toll: Toll, bytes: number): void {
    const { address, paid, isStrangers } = toll;
    toll.bytes += bytes;
    if (!isStrangers) return;
    const now = Date.now();
    this.#check(this.#bytes, address, now, bytes);
    charge(this.#bytes, address, now, bytes);
    paid.bytes += bytes;
  }

  /**
   * Charges what still arrives on a stranger's socket that is being closed: a frame costs as much as a
   * request.
   */
  late(toll: Toll, frames: number, bytes: number): void {
    const now = Date.now();
    this.#check(this.#requests, toll.address, now, frames);
    charge(this.#requests, toll.address, now, frames);
    this.more(toll, bytes);
  }

  /** An agent has authenticated the request. Its address is refunded. */
  pay(toll: Toll, agent: string): void {
    const { bytes } = toll;
    const now = Date.now();
    this.forget(toll);
    const early = this.#calls.earlyMs(agent, now);
    if (early > 0) throw this.#tooMany("callsPerAgent", agent, early);
    const earlyBytes = this.#agentBytes.earlyMs(agent, now, bytes);
    if (earlyBytes > 0) throw this.#tooMany("bytesPerAgent", agent, earlyBytes);
    this.#calls.charge(agent, now, 1);
    this.#agentBytes.charge(agent, now, bytes);
  }

  /** An operator has authenticated; operators have no budget. */
  forget(toll: Toll): void {
    const { address, paid } = toll;
    const now = Date.now();
    for (const { rates, key = address } of this.#requests) rates.refund(key, now, paid.requests);
    for (const { rates, key = address } of this.#bytes) rates.refund(key, now, paid.bytes);
    toll.isStrangers = false;
  }

  /** A manifest costs its address more than other bodies, whoever signs it: names are free. */
  publish(address: string, bytes: number): void {
    const now = Date.now();
    this.#check(this.#manifests, address, now, bytes);
    charge(this.#manifests, address, now, bytes);
  }

  /** Refuses an agent that has attached too often. An unproven claim costs nothing: `attached` charges. */
  attaching(agent: string): void {
    const early = this.#attachments.earlyMs(agent, Date.now());
    if (early > 0) throw this.#tooMany("attachmentsPerAgent", agent, early);
  }

  attached(agent: string): void {
    this.#attachments.charge(agent, Date.now(), 1);
  }

  /** An invalid signature, or an invalid manifest, costs more than a valid one. */
  fail(address: string): void {
    const count = this.#budgets.limits.requestsPerFailure;
    this.#budgets.hit("requestsPerFailure");
    // The debt of one address is not charged to strangers elsewhere.
    this.#requests[0]!.rates.charge(address, Date.now(), count);
  }

  /** The same on the socket of an agent: for how long to stop reading. */
  failOf(agent: string): number {
    this.#budgets.hit("requestsPerFailure");
    return this.takeFrames(agent, this.#budgets.limits.requestsPerFailure);
  }

  /** Charges the items of a report: each costs what it would cost as a frame on a socket. */
  report(agent: string, items: number): void {
    const now = Date.now();
    const early = this.#calls.earlyMs(agent, now, items);
    if (early > 0) throw this.#tooMany("callsPerAgent", agent, early);
    this.#calls.charge(agent, now, items);
  }

  /** Charges what an agent sends on its socket: for how many milliseconds to stop reading. */
  takeFrames(agent: string, count: number): number {
    return this.#take("callsPerAgent", this.#calls, agent, count);
  }

  takeBytes(agent: string, count: number): number {
    return this.#take("bytesPerAgent", this.#agentBytes, agent, count);
  }

  #take(budget: DoorName, rates: Rates, agent: string, count: number): number {
    const now = Date.now();
    const early = rates.earlyMs(agent, now, count);
    rates.charge(agent, now, count);
    if (early > 0) this.#budgets.hit(budget);
    return early;
  }

  #check(shares: readonly Share[], address: string, now: number, count: number): void {
    for (const { budget, rates, key = address } of shares) {
      const early = rates.earlyMs(key, now, count);
      if (early > 0) throw this.#tooMany(budget, "This address", early);
    }
  }

  #tooMany(budget: DoorName, who: string, early: number): WaybillError {
    this.#budgets.hit(budget);
    return tooMany(who, early);
  }
}

interface Share {
  readonly budget: DoorName;
  readonly rates: Rates;
  /** By default the address. */
  readonly key?: string;
}

function charge(shares: readonly Share[], address: string, now: number, count: number): void {
  for (const { rates, key = address } of shares) rates.charge(key, now, count);
}
