import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";

type Kind = "id" | "agent_id" | "time" | "digest";

function fine(rule: number, kind: Kind, title: string, text: string, more: object = {}): Row {
  return { rules: [rule], title, input: { kind, text }, expect: { status: "ok", ...more } };
}

function refused(rule: number, kind: Kind, title: string, text: string): Row {
  return { rules: [rule], title, input: { kind, text }, expect: { status: 400 } };
}

const ID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const HASH = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const IDS: readonly Row[] = [
  fine(4, "id", "the example of RFC 9562", ID, { ms: 1645557742000 }),
  fine(4, "id", "the earliest id", "00000000-0000-7000-8000-000000000000", { ms: 0 }),
  fine(4, "id", "the latest id", "ffffffff-ffff-7fff-bfff-ffffffffffff", { ms: 281474976710655 }),
  refused(4, "id", "upper case", ID.toUpperCase()),
  refused(4, "id", "one digit in upper case", `${ID.slice(0, -1)}F`),
  refused(4, "id", "no hyphens", ID.replaceAll("-", "")),
  refused(4, "id", "braces", `{${ID}}`),
  refused(4, "id", "a URN", `urn:uuid:${ID}`),
  refused(4, "id", "version 1", ID.replace("-7cc3", "-1cc3")),
  refused(4, "id", "version 4", ID.replace("-7cc3", "-4cc3")),
  refused(4, "id", "version 8", ID.replace("-7cc3", "-8cc3")),
  refused(4, "id", "variant of Microsoft", ID.replace("-98c4", "-c8c4")),
  refused(4, "id", "variant of NCS", ID.replace("-98c4", "-18c4")),
  refused(4, "id", "the id of nothing", "00000000-0000-0000-0000-000000000000"),
  refused(4, "id", "an empty id", ""),
  refused(4, "id", "an id with a digit too few", ID.slice(1)),
  refused(4, "id", "an id with a digit too many", `${ID}0`),
  refused(4, "id", "a line feed behind an id", `${ID}\n`),
  refused(4, "id", "a space before an id", ` ${ID}`),
  refused(4, "id", "digits of another script", ID.replaceAll("0", "\uff10")),
];

const AGENTS: readonly Row[] = [
  fine(5, "agent_id", "a single letter", "a"),
  fine(5, "agent_id", "a single digit", "7"),
  fine(5, "agent_id", "the agent of the founding document", "research-agent-001"),
  fine(5, "agent_id", "every punctuation that there may be", "a.b_c-d"),
  fine(5, "agent_id", "punctuation side by side", "a--b..c"),
  fine(5, "agent_id", "128 characters", "a".repeat(128)),
  refused(5, "agent_id", "129 characters", "a".repeat(129)),
  refused(5, "agent_id", "an empty agent id", ""),
  refused(5, "agent_id", "a capital", "Research-agent-001"),
  refused(5, "agent_id", "a Cyrillic letter", "rese\u0430rch"),
  refused(5, "agent_id", "a full-width letter", "\uff41gent"),
  refused(5, "agent_id", "a long s", "re\u017fearch"),
  refused(5, "agent_id", "a dotless i", "ag\u0131nt"),
  refused(5, "agent_id", "a letter with a combining accent", "agent\u0301"),
  refused(5, "agent_id", "a zero-width joiner", "age\u200dnt"),
  refused(5, "agent_id", "a dot in front", ".agent"),
  refused(5, "agent_id", "a hyphen at the end", "agent-"),
  refused(5, "agent_id", "an underscore at the end", "agent_"),
  refused(5, "agent_id", "a space", "research agent"),
  refused(5, "agent_id", "a slash", "research/agent"),
  refused(5, "agent_id", "an at sign", "agent@example.com"),
  refused(5, "agent_id", "a line feed behind an agent id", "agent\n"),
  refused(5, "agent_id", "a NUL in an agent id", "ag\0ent"),
];

const TIMES: readonly Row[] = [
  fine(6, "time", "seconds", "2026-11-18T07:45:00Z", { ms: 1794987900000 }),
  fine(6, "time", "milliseconds", "2026-11-18T07:45:00.123Z", { ms: 1794987900123 }),
  fine(6, "time", "one digit of a second", "2026-11-18T07:45:00.5Z", { ms: 1794987900500 }),
  fine(6, "time", "nine digits of a second", "2026-11-18T07:45:00.999999999Z", {
    ms: 1794987900999,
  }),
  fine(6, "time", "the start of 1970", "1970-01-01T00:00:00Z", { ms: 0 }),
  fine(6, "time", "before 1970", "1969-12-31T23:59:59.999Z", { ms: -1 }),
  fine(6, "time", "29 February of a leap year", "2028-02-29T00:00:00Z", { ms: 1835395200000 }),
  fine(6, "time", "29 February of 2000", "2000-02-29T00:00:00Z", { ms: 951782400000 }),
  fine(6, "time", "the last second of 9999", "9999-12-31T23:59:59Z", { ms: 253402300799000 }),
  refused(6, "time", "29 February of another year", "2027-02-29T00:00:00Z"),
  refused(6, "time", "29 February of 1900", "1900-02-29T00:00:00Z"),
  refused(6, "time", "30 February", "2028-02-30T00:00:00Z"),
  refused(6, "time", "31 April", "2027-04-31T00:00:00Z"),
  refused(6, "time", "month 0", "2027-00-10T00:00:00Z"),
  refused(6, "time", "month 13", "2027-13-10T00:00:00Z"),
  refused(6, "time", "day 0", "2027-01-00T00:00:00Z"),
  refused(6, "time", "hour 24", "2027-01-01T24:00:00Z"),
  refused(6, "time", "minute 60", "2027-01-01T00:60:00Z"),
  refused(6, "time", "a second 60 in the middle of an hour", "2027-01-01T00:30:60Z"),
  refused(6, "time", "an offset of zero", "2027-01-01T00:00:00+00:00"),
  refused(6, "time", "another offset", "2027-01-01T01:00:00+01:00"),
  refused(6, "time", "no zone", "2027-01-01T00:00:00"),
  refused(6, "time", "a lower-case z", "2027-01-01T00:00:00z"),
  refused(6, "time", "a lower-case t", "2027-01-01t00:00:00Z"),
  refused(6, "time", "a space for the T", "2027-01-01 00:00:00Z"),
  refused(6, "time", "a comma for the dot", "2027-01-01T00:00:00,5Z"),
  refused(6, "time", "a dot without digits", "2027-01-01T00:00:00.Z"),
  refused(6, "time", "ten digits of a second", "2027-01-01T00:00:00.0123456789Z"),
  refused(6, "time", "no seconds", "2027-01-01T00:00Z"),
  refused(6, "time", "a date alone", "2027-01-01"),
  refused(6, "time", "the basic form", "20270101T000000Z"),
  refused(6, "time", "a year of five digits", "12027-01-01T00:00:00Z"),
  refused(6, "time", "a sign before the year", "+2027-01-01T00:00:00Z"),
  refused(6, "time", "digits of another script in a time", "202\u0667-01-01T00:00:00Z"),
  refused(6, "time", "a line feed behind a time", "2027-01-01T00:00:00Z\n"),
  refused(6, "time", "an empty time", ""),
];

const DIGESTS: readonly Row[] = [
  fine(3, "digest", "the digest of abc", `sha256:${HASH}`, { of: "abc" }),
  fine(
    3,
    "digest",
    "the digest of nothing",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    { of: "" },
  ),
  refused(3, "digest", "upper-case digits", `sha256:${HASH.toUpperCase()}`),
  refused(3, "digest", "an upper-case name", `SHA256:${HASH}`),
  refused(3, "digest", "no name", HASH),
  refused(3, "digest", "the name of another hash", `sha512:${HASH}`),
  refused(3, "digest", "a hyphen for the colon", `sha256-${HASH}`),
  refused(3, "digest", "a digit too few", `sha256:${HASH.slice(1)}`),
  refused(3, "digest", "a digit too many", `sha256:${HASH}0`),
  refused(3, "digest", "base64url", "sha256:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"),
];

export const IDS_AND_TIMES: VectorFile = vectorFile(
  "ids-and-times",
  "text",
  "Texts that are an id, an agent's id, a time or a digest, and texts that only look like one.",
  [...IDS, ...AGENTS, ...TIMES, ...DIGESTS],
);
