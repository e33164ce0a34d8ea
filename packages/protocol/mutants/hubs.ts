import type { Mutant } from "./mutant.ts";

const DELIVERY = "src/api/delivery.ts";
const DOMAIN = "src/api/domain.ts";
const FRAME = "src/api/frame.ts";
const HELLO = "src/api/hello.ts";
const INVITATION = "src/api/invitation.ts";
const MEMBERS = "src/api/members.ts";
const NEWCOMERS = "src/api/newcomers.ts";
const PROBLEM = "src/api/problem.ts";
const INNER = "src/api/inner-address.ts";
const PUSH = "src/api/push.ts";
const PROOF = "src/api/request-proof.ts";

export const HUBS: readonly Mutant[] = [
  {
    rule: "WB-76",
    file: MEMBERS,
    find: `Number.isSafeInteger(value) && (value as number) >= least`,
    replace: `Number.isSafeInteger(value)`,
    why: "takes an attempt 0 and a credit below zero",
  },
  {
    rule: "WB-76",
    file: MEMBERS,
    find: `throw malformed(at + step(name), "must be a string");`,
    replace: `throw malformed(name, "must be a string");`,
    why: "names the member and not its place",
  },
  {
    rule: "WB-76",
    file: DELIVERY,
    find: `isAccepted: flagAt(members, "is_accepted", at),`,
    replace: `isAccepted: members["is_accepted"] === true,`,
    why: "takes an attempt for a new one where nothing is said",
  },
  {
    rule: "WB-76",
    file: FRAME,
    find: `const value = parseJson(text, {
    envelopeBytes: characters,
    jsonDepth: jsonDepth + DEPTH_OF_FRAMES,
  });`,
    replace: `parseJson("0", { envelopeBytes: characters, jsonDepth: jsonDepth + DEPTH_OF_FRAMES });
  if (text.length > characters) parseJson(text, { envelopeBytes: characters });
  const value = JSON.parse(text) as Json;`,
    why: "reads frames as the platform does",
  },
  {
    rule: "WB-77",
    file: PROBLEM,
    find: `return new WaybillError(waybill_status, detail, {`,
    replace: `return new WaybillError(isStatusCode((value as Problem).status) ? (value as Problem).status as StatusCode : 500, detail, {`,
    why: "goes by the status of HTTP",
  },
  {
    rule: "WB-77",
    file: PROBLEM,
    find: `PASSING.has(httpStatus) ? 503 :`,
    replace: `httpStatus === 503 ? 503 :`,
    why: "gives up for a proxy that is busy",
  },
  {
    rule: "WB-77",
    file: PROBLEM,
    find: `retryable: typeof retryable === "boolean" ? retryable : undefined,`,
    replace: ``,
    why: "forgets whether it may be tried again",
  },
  {
    rule: "WB-78",
    file: FRAME,
    find: `if (typeof type !== "string" || !Object.hasOwn(readers, type)) {`,
    replace: `if (typeof type !== "string") throw malformed(at, "must have a type");
  if (!Object.hasOwn(readers, type)) return members;
  if (false) {`,
    why: "passes on frames of any type",
  },
  {
    rule: "WB-78",
    file: FRAME,
    find: `? value.map((each, index) => readFrame(each, \`/\${index}\`, readers))`,
    replace: `? value.toReversed().map((each, index) => readFrame(each, \`/\${index}\`, readers))`,
    why: "takes frames in another order",
  },
  {
    rule: "WB-78",
    file: FRAME,
    find: `envelopeBytes: characters,
    jsonDepth: jsonDepth + DEPTH_OF_FRAMES,`,
    replace: `envelopeBytes: 2 * characters,
    jsonDepth: jsonDepth + DEPTH_OF_FRAMES,`,
    why: "takes messages longer than it has said",
  },
  {
    rule: "WB-79",
    file: HELLO,
    find: `if (nonce === undefined || hello.nonce === nonce) return;`,
    replace: `if (nonce === undefined || hello.nonce === undefined || hello.nonce === nonce) return;`,
    why: "takes a hello that answers no challenge",
  },
  {
    rule: "WB-79",
    file: HELLO,
    find: `if (hello.to !== to) {`,
    replace: `if (false) {`,
    why: "takes a hello for another hub",
  },
  {
    rule: "WB-79",
    file: HELLO,
    find: `if (Math.abs(now - hello.at) > clockSkewMs) {`,
    replace: `if (now - hello.at > clockSkewMs) {`,
    why: "takes a hello from the future",
  },
  {
    rule: "WB-79",
    file: HELLO,
    find: `if (hello.domain !== domain) {`,
    replace: `if (false) {`,
    why: "takes a hello that another hub of its name has passed on",
  },
  {
    rule: "WB-80",
    file: PROOF,
    find: `if (waybill !== 1 || kind !== "request") {`,
    replace: `if (waybill !== 1) {`,
    why: "takes a hello for the proof of a request",
  },
  {
    rule: "WB-80",
    file: PROOF,
    find: `if (record === undefined || record.agent !== from) {`,
    replace: `if (record === undefined) {`,
    why: "takes a proof by somebody else's key",
  },
  {
    rule: "WB-80",
    file: PROOF,
    find: `if (isKeyValidAt(record, now)) return record;`,
    replace: `if (record.notBefore <= now) return record;`,
    why: "takes a proof by a retired key",
  },
  {
    rule: "WB-81",
    file: PROOF,
    find: `if (claim.method !== method || claim.path !== path) {`,
    replace: `if (claim.method !== method || claim.path.split("?")[0] !== path.split("?")[0]) {`,
    why: "does not hold a query to its proof",
  },
  {
    rule: "WB-81",
    file: PROOF,
    find: `if (claim.to !== to) {`,
    replace: `if (false) {`,
    why: "takes a request for another hub",
  },
  {
    rule: "WB-81",
    file: PROOF,
    find: `if (Math.abs(now - claim.at) > clockSkewMs) {`,
    replace: `if (now - claim.at > clockSkewMs) {`,
    why: "takes a request from the future",
  },
  {
    rule: "WB-81",
    file: PROOF,
    find: `if (claim.domain !== domain) {`,
    replace: `if (false) {`,
    why: "takes a request for another hub of its name",
  },
  {
    rule: "WB-82",
    file: PROOF,
    find: `if (claim.bodyDigest === digest) return;`,
    replace: `if (claim.bodyDigest === undefined || claim.bodyDigest === digest) return;`,
    why: "takes a body that nobody has signed for",
  },
  {
    rule: "WB-82",
    file: PROOF,
    find: `if (claim.bodyDigest === digest) return;`,
    replace: `if (digest === undefined || claim.bodyDigest === digest) return;`,
    why: "does not miss a body that was signed for",
  },
  {
    rule: "WB-83",
    file: PROOF,
    find: `if (record === undefined || record.agent !== from) {`,
    replace: `if (record === undefined) {`,
    why: "takes a push that somebody else than the hub has signed",
  },
  {
    rule: "WB-83",
    file: PUSH,
    find: `return checked(httpShapes().pushAnswer, value, "The answer to a push");`,
    replace: `return value as PushAnswer;`,
    why: "takes whatever a push is answered with",
  },
  {
    rule: "WB-84",
    file: INNER,
    find: `  ["169.254.0.0", 16],
`,
    replace: ``,
    why: "lets a URL lead to the metadata of a cloud",
  },
  {
    rule: "WB-84",
    file: INNER,
    find: `if (six === undefined || !isIn(six, OUTER_6, parse6, 128)) return true;`,
    replace: `if (six === undefined) return false;
  if (!isIn(six, OUTER_6, parse6, 128)) return true;`,
    why: "takes a spelling that it can't read for an address of the world",
  },
  {
    rule: "WB-84",
    file: INNER,
    find: `  ["2002::", 16],
`,
    replace: ``,
    why: "lets an address of IPv6 hide one of IPv4",
  },
  {
    rule: "WB-86",
    file: DOMAIN,
    find: `if (first?.kid === domain && first.manifest.sequence === 1) return;`,
    replace: `if (first?.kid === domain) return;`,
    why: "takes a chain without its beginning",
  },
  {
    rule: "WB-86",
    file: DOMAIN,
    find: `const [first] = manifests;`,
    replace: `const first = manifests.at(-1);`,
    why: "takes the newest key for the domain",
  },
  {
    rule: "WB-87",
    file: DOMAIN,
    find: `return \`hub-\${digestOf(domain).slice(HEX_START, HEX_START + HEX_DIGITS)}\`;`,
    replace: `return "hub";`,
    why: "calls all hubs the same",
  },
  {
    rule: "WB-110",
    file: NEWCOMERS,
    find: `newcomers === "invitation" && hasInvitation`,
    replace: `hasInvitation`,
    why: "lets the invited in by an allow-list",
  },
  {
    rule: "WB-110",
    file: NEWCOMERS,
    find: `isLocal ? "open" : "invitation"`,
    replace: `"open"`,
    why: "opens a hub to the world that nobody has opened",
  },
  {
    rule: "WB-111",
    file: INVITATION,
    find: `if (given === undefined || !isSame(given, macOf(invitation, encoded, token))) {`,
    replace: `if (given === undefined) {`,
    why: "takes any MAC",
  },
  {
    rule: "WB-111",
    file: INVITATION,
    find: `["domain", "agent", "kid", "manifest"] as const`,
    replace: `["domain", "agent", "manifest"] as const`,
    why: "takes a proof for another key",
  },
  {
    rule: "WB-112",
    file: INVITATION,
    find: `now >= expiresAt`,
    replace: `now > expiresAt`,
    why: "lets an invitation hold a moment longer",
  },
  {
    rule: "WB-112",
    file: INVITATION,
    find: `usedBy !== undefined`,
    replace: `usedBy === newcomer`,
    why: "lets in a second agent",
  },
  {
    rule: "WB-113",
    file: INVITATION,
    find: "return `${read.id}.${encoded}.${toBase64url(macOf(read.id, encoded, token))}`;",
    replace: "return `${read.id}.${encoded}.${toBase64url(utf8(token))}`;",
    why: "sends the invitation",
  },
];
