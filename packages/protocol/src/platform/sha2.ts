// SHA-256 and SHA-512 (FIPS 180-4), synchronous: WebCrypto only hashes behind a promise, and
// signing must not turn every function that makes or reads an envelope into an asynchronous one.

const PRIMES = firstPrimes(80);
const WORDS = 2 ** 32;

// Both standards take the same fractions of the same roots; SHA-256 takes the first 32 bits only.
const ROUND = PRIMES.map((prime) => rootFraction(prime, 3n));
const START = PRIMES.slice(0, 8).map((prime) => rootFraction(prime, 2n));
const ROUND_HIGH = Int32Array.from(ROUND, (fraction) => Number(fraction >> 32n));
const ROUND_LOW = Int32Array.from(ROUND, (fraction) => Number(fraction & 0xffffffffn));
const START_HIGH = Int32Array.from(START, (fraction) => Number(fraction >> 32n));
const START_LOW = Int32Array.from(START, (fraction) => Number(fraction & 0xffffffffn));

const HIGH = new Int32Array(80);
const LOW = new Int32Array(80);

export function sha256(message: Uint8Array): Uint8Array {
  const state = START_HIGH.slice();
  for (const block of blocks(message, 64)) compress256(state, block);
  return bigEndian([state]);
}

export function sha512(message: Uint8Array): Uint8Array {
  const high = START_HIGH.slice();
  const low = START_LOW.slice();
  for (const block of blocks(message, 128)) compress512(high, low, block);
  return bigEndian([high, low]);
}

function compress256(state: Int32Array, block: DataView): void {
  for (let i = 0; i < 16; i++) HIGH[i] = block.getInt32(i * 4);
  for (let i = 16; i < 64; i++) {
    const w2 = HIGH[i - 2]!;
    const w15 = HIGH[i - 15]!;
    const s1 = right(w2, 17) ^ right(w2, 19) ^ (w2 >>> 10);
    const s0 = right(w15, 7) ^ right(w15, 18) ^ (w15 >>> 3);
    HIGH[i] = s1 + HIGH[i - 7]! + s0 + HIGH[i - 16]!;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let i = 0; i < 64; i++) {
    const t1 =
      (h +
        (right(e, 6) ^ right(e, 11) ^ right(e, 25)) +
        ((e & f) ^ (~e & g)) +
        ROUND_HIGH[i]! +
        HIGH[i]!) |
      0;
    const t2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i]! += word));
}

/**
 * A 64-bit word is two halves, because a BigInt is allocated anew for every operation. Low halves
 * are added as unsigned numbers, whose sum stays exact, and what exceeds 32 bits is the carry.
 */
function compress512(high: Int32Array, low: Int32Array, block: DataView): void {
  for (let i = 0; i < 16; i++) {
    HIGH[i] = block.getInt32(i * 8);
    LOW[i] = block.getInt32(i * 8 + 4);
  }
  for (let i = 16; i < 80; i++) {
    const h2 = HIGH[i - 2]!;
    const l2 = LOW[i - 2]!;
    const h15 = HIGH[i - 15]!;
    const l15 = LOW[i - 15]!;
    const s1High = half(h2, l2, 19) ^ half(l2, h2, 29) ^ (h2 >>> 6);
    const s1Low = half(l2, h2, 19) ^ half(h2, l2, 29) ^ half(l2, h2, 6);
    const s0High = half(h15, l15, 1) ^ half(h15, l15, 8) ^ (h15 >>> 7);
    const s0Low = half(l15, h15, 1) ^ half(l15, h15, 8) ^ half(l15, h15, 7);
    const sum = (s1Low >>> 0) + (LOW[i - 7]! >>> 0) + (s0Low >>> 0) + (LOW[i - 16]! >>> 0);
    LOW[i] = sum;
    HIGH[i] = s1High + HIGH[i - 7]! + s0High + HIGH[i - 16]! + carry(sum);
  }
  let [ah, bh, ch, dh, eh, fh, gh, hh] = high as unknown as Eight;
  let [al, bl, cl, dl, el, fl, gl, hl] = low as unknown as Eight;
  for (let i = 0; i < 80; i++) {
    const e1High = half(eh, el, 14) ^ half(eh, el, 18) ^ half(el, eh, 9);
    const e1Low = half(el, eh, 14) ^ half(el, eh, 18) ^ half(eh, el, 9);
    const t1 =
      (hl >>> 0) +
      (e1Low >>> 0) +
      (((el & fl) ^ (~el & gl)) >>> 0) +
      (ROUND_LOW[i]! >>> 0) +
      (LOW[i]! >>> 0);
    const t1Low = t1 | 0;
    const t1High =
      (hh + e1High + ((eh & fh) ^ (~eh & gh)) + ROUND_HIGH[i]! + HIGH[i]! + carry(t1)) | 0;
    const a0High = half(ah, al, 28) ^ half(al, ah, 2) ^ half(al, ah, 7);
    const a0Low = half(al, ah, 28) ^ half(ah, al, 2) ^ half(ah, al, 7);
    const next = (t1Low >>> 0) + (a0Low >>> 0) + (((al & bl) ^ (al & cl) ^ (bl & cl)) >>> 0);
    const majorityHigh = (ah & bh) ^ (ah & ch) ^ (bh & ch);
    hh = gh;
    hl = gl;
    gh = fh;
    gl = fl;
    fh = eh;
    fl = el;
    const sum = (dl >>> 0) + (t1Low >>> 0);
    el = sum | 0;
    eh = (dh + t1High + carry(sum)) | 0;
    dh = ch;
    dl = cl;
    ch = bh;
    cl = bl;
    bh = ah;
    bl = al;
    al = next | 0;
    ah = (t1High + a0High + majorityHigh + carry(next)) | 0;
  }
  const highs = [ah, bh, ch, dh, eh, fh, gh, hh];
  [al, bl, cl, dl, el, fl, gl, hl].forEach((word, i) => {
    const sum = (low[i]! >>> 0) + (word >>> 0);
    low[i] = sum;
    high[i]! += highs[i]! + carry(sum);
  });
}

/** The message in blocks, the last one or two with the padding: a one bit, zeros, the length in bits. */
function* blocks(message: Uint8Array, size: 64 | 128): Generator<DataView> {
  const whole = message.length - (message.length % size);
  for (let at = 0; at < whole; at += size)
    yield new DataView(message.buffer, message.byteOffset + at, size);
  const rest = message.length - whole;
  const tail = new Uint8Array(rest < size - size / 8 ? size : 2 * size);
  tail.set(message.subarray(whole));
  tail[rest] = 0x80;
  const ends = new DataView(tail.buffer);
  ends.setUint32(tail.length - 8, Math.floor((message.length * 8) / WORDS));
  ends.setUint32(tail.length - 4, message.length * 8);
  for (let at = 0; at < tail.length; at += size) yield new DataView(tail.buffer, at, size);
}

function bigEndian(halves: Int32Array[]): Uint8Array {
  const digest = new DataView(new ArrayBuffer(32 * halves.length));
  halves.forEach((words, part) =>
    words.forEach((word, i) => digest.setInt32((i * halves.length + part) * 4, word)),
  );
  return new Uint8Array(digest.buffer);
}

type Eight = [number, number, number, number, number, number, number, number];

function right(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The half that `upper` becomes when a 64-bit word is turned right, `lower` being its other half. */
function half(upper: number, lower: number, bits: number): number {
  return (upper >>> bits) | (lower << (32 - bits));
}

function carry(sum: number): number {
  return (sum / WORDS) | 0;
}

function firstPrimes(count: number): bigint[] {
  const primes: bigint[] = [];
  for (let n = 2n; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0n)) primes.push(n);
  }
  return primes;
}

/** The first 64 bits behind the point of a prime's root, by Newton's method on integers. */
function rootFraction(prime: bigint, degree: bigint): bigint {
  const value = prime << (64n * degree);
  let root = 1n << 72n;
  for (;;) {
    const next = ((degree - 1n) * root + value / root ** (degree - 1n)) / degree;
    if (next >= root) return root & 0xffffffffffffffffn;
    root = next;
  }
}
