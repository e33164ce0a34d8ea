import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { AT, refuses } from "./check.ts";
import { HANDOFF } from "./envelope.ts";
import { PAYLOAD } from "./envelopes-payload.ts";
import { READ } from "./envelopes-read.ts";
import { WIRE } from "./envelopes-wire.ts";
import { editor, enrolled, jwkOf, thumbprint } from "./parties.ts";
import {
  basePoint,
  hexBytes,
  plusTorsion,
  secretOf,
  signWith,
  SMALL_ORDER,
  toLittleEndian,
  torsionBlindNonce,
  withSPlusOrder,
} from "./points.ts";
import { base64url, bytesOf } from "./text.ts";
import { headerOf, signed } from "./wire.ts";

const ORDER_8 = SMALL_ORDER[4]![1];
const NONCE = 7n;
const secret = secretOf(editor);

function inputUnder(keyBytes: Uint8Array): string {
  const head = base64url(headerOf("Ed25519", thumbprint(keyBytes)));
  return `${head}.${base64url(JSON.stringify(HANDOFF))}`;
}

/** The handoff with a signature constructed from points. */
function forged(r: Uint8Array, nonce: bigint, keyBytes: Uint8Array = editor.publicKey): string {
  const input = inputUnder(keyBytes);
  return `${input}.${base64url(signWith(bytesOf(input), secret, keyBytes, nonce, r))}`;
}

function keyringWith(keyBytes: Uint8Array) {
  return { [thumbprint(keyBytes)]: enrolled({ agent: editor.agent, jwk: jwkOf(keyBytes) }) };
}

const torsioned = plusTorsion(basePoint(secret), ORDER_8).toBytes();
const blind = torsionBlindNonce(bytesOf(inputUnder(torsioned)), torsioned);
const identity = hexBytes(SMALL_ORDER[0]![1]);
/** Anybody can make this one: under a key that is the identity, R = [S]B for every message. */
const forSmallOrderKey = `${inputUnder(identity)}.${base64url(
  Buffer.concat([basePoint(NONCE).toBytes(), toLittleEndian(NONCE)]),
)}`;

const CURVE: readonly Row[] = [
  refuses(
    [13],
    "a signature with the order added to S",
    401,
    signed(HANDOFF, editor, { tamper: withSPlusOrder }),
  ),
  refuses([14], "an R that is the identity, by the owner of the key", 401, forged(identity, 0n)),
  refuses(
    [12],
    "an R with torsion, which only a cofactored verifier takes",
    401,
    forged(plusTorsion(basePoint(NONCE), ORDER_8).toBytes(), NONCE),
  ),
  refuses([15, 20], "a key of small order, enrolled by mistake", 401, forSmallOrderKey, {
    keyring: keyringWith(identity),
  }),
  refuses(
    [15, 20],
    "a key with torsion, enrolled by mistake",
    401,
    forged(basePoint(blind).toBytes(), blind, torsioned),
    {
      at: AT,
      keyring: keyringWith(torsioned),
    },
  ),
];

export const ENVELOPES: VectorFile = vectorFile(
  "envelopes",
  "envelope",
  "One envelope, read with a keyring at a time.",
  [...READ, ...WIRE, ...CURVE, ...PAYLOAD],
);
