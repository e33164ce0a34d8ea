import { randomBytes } from "#platform";
import { WaybillError } from "./error.ts";
import { digestOf } from "./signing/digest.ts";

/** Makes ids for one process. `at` replaces the clock for an id of another time. */
export type IdSource = (at?: number) => string;

/** The clock and the random bytes of a source of ids. */
export interface IdSourceOptions {
  /** Milliseconds since 1970. */
  now(): number;
  randomBytes(length: number): Uint8Array;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME_MAX = 2 ** 48 - 1;
const COUNTER_MAX = 0xfff;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * UUIDs of version 7 (RFC 9562) that rise within a millisecond: `rand_a` is a counter that starts at
 * random in its lower half. When it overflows, or the clock steps back, the time of the ids runs ahead
 * of the clock, so that they still rise.
 */
export function idSource(options: IdSourceOptions): IdSource {
  let latest = 0;
  let time = -1;
  let counter = 0;
  let prefix = "";

  return (at) => {
    let next = at === undefined ? Math.max(Math.floor(options.now()), latest) : Math.floor(at);
    const random = options.randomBytes(8);
    if (next === time && ++counter > COUNTER_MAX) next++;
    if (next !== time) {
      prefix = timePrefix(next);
      time = next;
      const [high, low] = options.randomBytes(2);
      counter = ((high! << 8) | low!) & (COUNTER_MAX >> 1);
    }
    // An id for a given time says nothing about this clock.
    if (at === undefined) latest = time;
    return (
      prefix +
      HEX[0x70 | (counter >> 8)]! +
      HEX[counter & 0xff]! +
      "-" +
      HEX[0x80 | (random[0]! & 0x3f)]! +
      HEX[random[1]!]! +
      "-" +
      HEX[random[2]!]! +
      HEX[random[3]!]! +
      HEX[random[4]!]! +
      HEX[random[5]!]! +
      HEX[random[6]!]! +
      HEX[random[7]!]!
    );
  };
}

const ids = idSource({ now: () => Date.now(), randomBytes });

/** A new id; ids made one after the other sort in that order. */
export function newId(now?: number): string {
  return ids(now);
}

/** An id derived from another one and a purpose: deterministic, and with the same timestamp. */
export function derivedId(purpose: string, id: string): string {
  const hex = digestOf(`${purpose} ${id}`).slice("sha256:".length);
  return `${id.slice(0, 14)}7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** Only the canonical, lower-case spelling is an id: two spellings would be two keys in a store. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && UUID_V7.test(value);
}

/** When an id was made, in milliseconds since 1970, by its maker's clock. */
export function idTime(id: string): number {
  if (!isId(id))
    throw new WaybillError(
      400,
      "This is not an id: an id must be a UUID of version 7 in lower case.",
    );
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function timePrefix(time: number): string {
  if (!(time >= 0 && time <= TIME_MAX)) {
    throw new WaybillError(
      400,
      `An id can't carry the time ${time}: it takes milliseconds since 1970, in 48 bits.`,
    );
  }
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-`;
}
