import type { Row } from "./case.ts";
import { AT, refuses } from "./check.ts";
import { CANCEL, HANDOFF, HANDOFF_TEXT } from "./envelope.ts";
import { handoffOfSize } from "./envelopes-read.ts";
import { editor, hub, keyringOf, researcher, stranger } from "./parties.ts";
import { base64url, expand } from "./text.ts";
import type { Text } from "./text.ts";
import { flip, headerOf, jws, signed } from "./wire.ts";

const { kid } = editor;
const GOOD_HEADER = headerOf("Ed25519", kid);
const [HEAD, PAYLOAD, SIGNATURE] = HANDOFF_TEXT.split(".") as [string, string, string];

/** Each is signed as it is, so that only the header is wrong. */
const HEADERS: readonly (readonly [title: string, header: string])[] = [
  ["alg none", headerOf("none", kid)],
  ["alg HS256", headerOf("HS256", kid)],
  ["alg ES256", headerOf("ES256", kid)],
  ["alg EdDSA", headerOf("EdDSA", kid)],
  ["alg in lower case", headerOf("ed25519", kid)],
  ["alg Ed25519ph", headerOf("Ed25519ph", kid)],
  ["alg empty", headerOf("", kid)],
  ["alg a list", `{"alg":["Ed25519"],"kid":"${kid}","typ":"waybill+jws"}`],
  ["no alg", `{"kid":"${kid}","typ":"waybill+jws"}`],
  ["no kid", '{"alg":"Ed25519","typ":"waybill+jws"}'],
  ["no typ", `{"alg":"Ed25519","kid":"${kid}"}`],
  ["typ JWT", `{"alg":"Ed25519","kid":"${kid}","typ":"JWT"}`],
  ["typ in upper case", `{"alg":"Ed25519","kid":"${kid}","typ":"WAYBILL+JWS"}`],
  ["a member more: crit", `{"alg":"Ed25519","crit":["exp"],"kid":"${kid}","typ":"waybill+jws"}`],
  [
    "a member more: jwk",
    `{"alg":"Ed25519","jwk":${JSON.stringify(editor.jwk)},"kid":"${kid}","typ":"waybill+jws"}`,
  ],
  [
    "a member more: jku",
    `{"alg":"Ed25519","jku":"https://example.com/keys","kid":"${kid}","typ":"waybill+jws"}`,
  ],
  [
    "a member more: x5u",
    `{"alg":"Ed25519","kid":"${kid}","typ":"waybill+jws","x5u":"https://example.com/c"}`,
  ],
  ["a member more: b64", `{"alg":"Ed25519","b64":false,"kid":"${kid}","typ":"waybill+jws"}`],
  ["a member more, with no meaning", `{"alg":"Ed25519","kid":"${kid}","typ":"waybill+jws","x":1}`],
  ["alg twice", `{"alg":"none","alg":"Ed25519","kid":"${kid}","typ":"waybill+jws"}`],
  ["another order", `{"kid":"${kid}","alg":"Ed25519","typ":"waybill+jws"}`],
  ["white space", `{"alg": "Ed25519","kid":"${kid}","typ":"waybill+jws"}`],
  ["a line feed at the end", `${GOOD_HEADER}\n`],
  ["an escape", `{"alg":"Ed25519","kid":"${kid}","typ":"waybill\\u002bjws"}`],
  ["an escaped member name", `{"\\u0061lg":"Ed25519","kid":"${kid}","typ":"waybill+jws"}`],
  ["a byte order mark", `\ufeff${GOOD_HEADER}`],
  ["a kid that is too short", headerOf("Ed25519", kid.slice(1))],
  ["a kid that is too long", headerOf("Ed25519", `${kid}A`)],
  ["a kid that is no strict base64url", headerOf("Ed25519", `${kid.slice(0, -1)}B`)],
  ["a kid that is a number", '{"alg":"Ed25519","kid":7,"typ":"waybill+jws"}'],
  ["an array", '["Ed25519"]'],
  ["a string", '"Ed25519"'],
  ["null", "null"],
  ["not JSON", "{"],
];

function joined(head: string, payload: string, signature: string): string {
  return `${head}.${payload}.${signature}`;
}

/** The same bits in another encoding: with the unused bits of the last digit set. */
function withTrailingBits(encoded: string): string {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return encoded.slice(0, -1) + digits[digits.indexOf(encoded.at(-1)!) + 1]!;
}

/** A payload whose length leaves unused bits in its last digit. */
const ODD = signed({ ...HANDOFF, x: "12" }, editor).split(".") as [string, string, string];

const SHAPES: readonly (readonly [rules: readonly number[], title: string, text: Text])[] = [
  [[18, 75], "an empty string", ""],
  [[18, 75], "one part", HEAD],
  [[18, 75], "two parts", `${HEAD}.${PAYLOAD}`],
  [[18, 75], "four parts", `${HANDOFF_TEXT}.`],
  [[18, 75], "dots and nothing else", ".."],
  [[18, 75], "a million dots", { repeat: ".", times: 1_000_000 }],
  [[75], "a JSON text where a JWS should be", JSON.stringify(HANDOFF)],
  [[75], "a NUL", "\0"],
  [
    [75],
    "a header of a hundred thousand digits",
    { concat: [{ repeat: "A", times: 100_000 }, "..AAAA"] },
  ],
  [[18], "an empty header", joined("", PAYLOAD, SIGNATURE)],
  [[2], "a line feed at the end", `${HANDOFF_TEXT}\n`],
  [[2], "a space in front", ` ${HANDOFF_TEXT}`],
  [[2], "padding at the header", joined(`${HEAD}=`, PAYLOAD, SIGNATURE)],
  [[2], "padding at the payload", joined(HEAD, `${PAYLOAD}=`, SIGNATURE)],
  [[2], "padding at the signature", `${HANDOFF_TEXT}==`],
  [
    [2],
    "a payload in the other alphabet",
    jws("", editor, {
      encodedPayload:
        base64url('{"a":"\u00ff\u00bf>?"}').replaceAll("_", "/").replaceAll("-", "+") + "+/",
    }),
  ],
  [
    [2],
    "a payload with white space inside",
    jws("", editor, { encodedPayload: `${PAYLOAD.slice(0, 40)} ${PAYLOAD.slice(40)}` }),
  ],
  [[2], "a payload of a length of 1 modulo 4", jws("", editor, { encodedPayload: "AAAAA" })],
  [
    [2],
    "a payload with trailing bits that are not zero",
    jws("", editor, { encodedPayload: withTrailingBits(ODD[1]) }),
  ],
  [
    [2],
    "a signature with trailing bits that are not zero",
    joined(HEAD, PAYLOAD, withTrailingBits(SIGNATURE)),
  ],
  [[2], "a signature in the other alphabet", joined(HEAD, PAYLOAD, `+/${SIGNATURE.slice(2)}`)],
];

const reordered = base64url(
  `{"waybill": 1,${JSON.stringify(HANDOFF).slice('{"waybill":1,'.length)}`,
);
const other = signed(CANCEL, editor).split(".")[2]!;
const KEYS = keyringOf(editor, researcher, hub);

export const WIRE: readonly Row[] = [
  ...HEADERS.map(([title, header]) =>
    refuses([18], `header: ${title}`, 400, jws(JSON.stringify(HANDOFF), editor, { header })),
  ),
  refuses(
    [1, 18],
    "header: bytes that are not UTF-8",
    400,
    jws(JSON.stringify(HANDOFF), editor, { header: Buffer.from([0x7b, 0xff, 0x7d]) }),
  ),
  refuses(
    [18],
    "header: alg none and no signature at all",
    400,
    joined(base64url(headerOf("none", kid)), PAYLOAD, ""),
  ),
  ...SHAPES.map(([rules, title, text]) => refuses(rules, title, 400, text)),
  refuses(
    [19],
    "an envelope of 1,048,577 bytes that is sound otherwise",
    413,
    handoffOfSize(1_048_577),
  ),
  refuses([19, 75], "1,048,577 bytes that are no envelope", 413, { repeat: "A", times: 1_048_577 }),
  refuses([19, 75], "600,000 characters of two bytes each", 413, {
    repeat: "\u00e9",
    times: 600_000,
  }),
  refuses([19, 75], "two million quotation marks", 413, { repeat: '"', times: 2_000_000 }),
  refuses(
    [20],
    "another header, of an enrolled key",
    401,
    joined(base64url(headerOf("Ed25519", researcher.kid)), PAYLOAD, SIGNATURE),
  ),
  refuses(
    [20],
    "another payload of the same length",
    401,
    joined(HEAD, base64url(JSON.stringify(HANDOFF).replace('"depth":2', '"depth":3')), SIGNATURE),
  ),
  refuses(
    [20, 21],
    "the payload written anew by somebody on the way",
    401,
    joined(HEAD, reordered, SIGNATURE),
  ),
  refuses(
    [20],
    "a signature with another R",
    401,
    signed(HANDOFF, editor, { tamper: (bytes) => flip(bytes, 5) }),
  ),
  refuses(
    [20],
    "a signature with another S",
    401,
    signed(HANDOFF, editor, { tamper: (bytes) => flip(bytes, 37) }),
  ),
  refuses(
    [20],
    "a signature of zeros",
    401,
    signed(HANDOFF, editor, { tamper: () => Buffer.alloc(64) }),
  ),
  refuses([20], "the signature of another envelope", 401, joined(HEAD, PAYLOAD, other)),
  refuses(
    [20],
    "a signature by another key than the header says",
    401,
    jws(JSON.stringify(HANDOFF), stranger, { header: GOOD_HEADER }),
  ),
  refuses([20], "a key that is not enrolled", 401, signed(HANDOFF, stranger)),
  refuses([20], "no key enrolled at all", 401, HANDOFF_TEXT, { keyring: {} }),
  refuses(
    [20, 21],
    "a signature that fails, over a payload that is no JSON",
    401,
    jws("{", editor, { tamper: (bytes) => flip(bytes, 0) }),
  ),
  refuses([20], "a kid under which another key is enrolled", 401, HANDOFF_TEXT, {
    at: AT,
    keyring: { [kid]: KEYS[researcher.kid]! },
  }),
];

if (expand(handoffOfSize(1_048_577)).length !== 1_048_577) throw new Error("the size is wrong");
