import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import type * as Core from "@waybill/protocol";
import type * as Audit from "@waybill/protocol/audit";
import type * as Hub from "@waybill/protocol/hub";
import type * as Wire from "@waybill/protocol/wire";
import * as Tracing from "@waybill/protocol/tracing";
import type { TrustPolicy } from "@waybill/protocol";
import type { HistoryEntry } from "@waybill/protocol/audit";
import type { Candidate, LifecycleEvent } from "@waybill/protocol/hub";

// Applies the vectors as an implementation in another language does: through the package's exports,
// with only the files and their README.

type Api = typeof Core & typeof Hub & typeof Audit & typeof Wire;
type Text = string | { repeat: string; times: number } | { concat: Text[] };
type Members = Record<string, unknown>;
interface Vector {
  id: string;
  rule: string[];
  title: string;
  // Each file has a form of its own, which its README describes.
  // oxlint-disable-next-line typescript/no-explicit-any
  input: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  expect: any;
}

const FOLDER = new URL("../vectors/", import.meta.url);
const MANIFEST = new URL("../../protocol/package.json", import.meta.url);

/** The package loaded again, with everything below the signatures in portable JavaScript. */
async function portable(): Promise<Api> {
  const { imports } = JSON.parse(fs.readFileSync(MANIFEST, "utf8")) as {
    imports: { "#platform": Record<"node" | "default", string> };
  };
  const fileOf = (path: string): string => fileURLToPath(new URL(path, MANIFEST));
  const { node, default: other } = imports["#platform"];
  vi.resetModules();
  vi.doMock(fileOf(node), () => vi.importActual(fileOf(other)));
  return loaded();
}

async function loaded(): Promise<Api> {
  return {
    ...(await import("@waybill/protocol")),
    ...(await import("@waybill/protocol/hub")),
    ...(await import("@waybill/protocol/audit")),
    ...(await import("@waybill/protocol/wire")),
  };
}

const PATHS = [
  ["node", await loaded()],
  ["portable", await portable()],
] as const satisfies readonly (readonly [string, Api])[];

function expand(text: Text): string {
  if (typeof text === "string") return text;
  return "repeat" in text ? text.repeat.repeat(text.times) : text.concat.map(expand).join("");
}

/** The result, or the status and the place of the refusal; any other exception is a crash. */
function outcome(api: Api, run: () => Members): Members {
  try {
    return { status: "ok", ...run() };
  } catch (error) {
    if (!api.WaybillError.is(error)) throw error;
    const { status, at, received } = error;
    return { status, at, ...(received === undefined ? {} : { received }) };
  }
}

interface Entry {
  agent: string;
  jwk: unknown;
  not_before: number | null;
  not_after: number | null;
}

function keyOf(api: Api, keyring: Record<string, Entry>): Core.Keyring["keyOf"] {
  const records = new Map<string, Core.KeyRecord>();
  for (const [kid, { agent, jwk, not_before, not_after }] of Object.entries(keyring)) {
    const enrolled = outcome(api, () => ({ key: api.publicKeyFrom(jwk) }));
    if (enrolled["status"] !== "ok") continue;
    const key = enrolled["key"] as Core.PublicKey;
    records.set(kid, {
      agent,
      key,
      notBefore: not_before ?? -Infinity,
      notAfter: not_after ?? Infinity,
    });
  }
  return (kid) => records.get(kid);
}

function verified(api: Api, compact: Text, { keyring, at, to, domain }: Vector["input"]): Members {
  return outcome(api, () => {
    const options = { keyOf: keyOf(api, keyring), at, to, domain };
    const { envelope, digest } = api.verifyEnvelope(expand(compact), options);
    return { digest, payload: envelope, event: eventOf(api, envelope, digest, at) };
  });
}

function eventOf(api: Api, envelope: Core.Envelope, digest: Core.Digest, at: number): unknown {
  const event = api.eventOf(envelope, digest, at);
  return event === undefined ? null : snake(event);
}

/** Members in snake_case, as everywhere on the wire; undefined ones are omitted. */
function snake(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        snake(member),
      ]),
  );
}

function camel(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camel(member),
    ]),
  );
}

type Judge = (api: Api, input: Vector["input"], expected: Vector["expect"]) => Members;

const TEXT_KINDS: Readonly<Record<string, (api: Api, text: string) => Members | undefined>> = {
  id: (api, text) => (api.isId(text) ? { ms: api.idTime(text) } : undefined),
  agent_id: (api, text) => (api.isAgentId(text) ? {} : undefined),
  time: (api, text) => {
    const ms = api.parseTime(text);
    return ms !== undefined && api.isTime(text) ? { ms } : undefined;
  },
  digest: (api, text) => (api.isDigest(text) ? {} : undefined),
};

const KEY_OPERATIONS: Readonly<Record<string, (api: Api, input: Vector["input"]) => Members>> = {
  enrol: (api, { jwk }) => outcome(api, () => ({ kid: api.publicKeyFrom(jwk).kid })),
  verify: (api, { public_key, message, signature }) => {
    const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
    const key = outcome(api, () => ({ key: api.publicKeyFrom(bytes(public_key)) }));
    if (key["status"] !== "ok") return { status: 401 };
    const { verify } = key["key"] as Core.PublicKey;
    return { status: verify(bytes(message), bytes(signature)) ? "ok" : 401 };
  },
};

function chained(api: Api, input: Vector["input"], expected: Vector["expect"]): Members {
  const {
    manifests,
    known_keys: known = {},
    from_first: fromFirst,
    trust,
    vouched,
    envelope,
  } = input;
  const owners: Core.Keyring["keyOf"] = (kid) =>
    known[kid] === undefined ? undefined : ({ agent: known[kid] } as Core.KeyRecord);
  let previous: Core.VerifiedManifest | undefined;
  const accepted: Core.VerifiedManifest[] = [];
  const results = (manifests as { text: string; at: number }[]).map(({ text, at }) =>
    outcome(api, () => {
      const policy = trust === undefined ? undefined : policyOf(trust);
      const read = api.verifyManifest(text, {
        previous,
        fromFirst,
        at,
        vouched: (kid) => (vouched as readonly string[] | undefined)?.includes(kid) === true,
        keyOf: owners,
        trust: policy,
      });
      accepted.push((previous = read));
      const { manifest, digest, kid } = read;
      const subject = { agentId: manifest.agent_id, kid, digest };
      return {
        digest,
        sequence: manifest.sequence,
        kids: [...read.keys.keys()],
        recovery: read.recovery?.kid ?? null,
        ...(policy !== undefined && { trusted_by: api.decideTrust(policy, subject).by }),
      };
    }),
  );
  if (expected.envelope === undefined) return { results };
  const { compact, at } = envelope as { compact: string; at: number };
  const ring = api.keyring(accepted);
  const read = outcome(api, () => ({ ...api.verifyEnvelope(compact, { keyOf: ring.keyOf, at }) }));
  return { results, envelope: read };
}

function policyOf({ pins, allow_list, registry, first_use }: Vector["input"]): TrustPolicy {
  const mapOf = (given: Members | null) =>
    given === null ? undefined : new Map(Object.entries(given as Record<string, Core.Digest>));
  return {
    pins: mapOf(pins),
    allowList: mapOf(allow_list),
    registry: mapOf(registry),
    firstUse: first_use,
  } as TrustPolicy;
}

const MANIFEST_OPERATIONS: Readonly<Record<string, Judge>> = {
  verify: chained,
  chain: (api, { known, shown, at }) =>
    outcome(api, () => {
      const believed = api.knownManifest(api.verifyManifest(known, { at }));
      api.checkChain(believed, (shown as string[]).map(api.digestOfJws));
      return {};
    }),
  read: (api, { manifest, manifest_text }) =>
    outcome(api, () => {
      const given: unknown =
        manifest_text === undefined ? manifest : JSON.parse(expand(manifest_text));
      return { manifest: api.parseManifest(given) };
    }),
};

function candidateOf(api: Api, given: Members, at: number): Candidate {
  const { agent_id, capability, is_trusted, successes, failures } = given;
  const [read] = api.parseManifest({ agent_id, capabilities: [capability] }).capabilities;
  return {
    agent_id: agent_id as string,
    capability: read!,
    trust:
      is_trusted === true
        ? { isTrusted: true, by: "pin", reason: "it is pinned" }
        : { isTrusted: false, by: "nothing", status: 401, reason: "nothing vouches for it" },
    stats: {
      ...api.NO_STATS,
      successes: successes as number,
      failures: failures as number,
      ejectedUntil: at,
    },
  };
}

interface AskerVector extends Core.Asker {
  readonly groups?: readonly string[];
}

interface OfferVector {
  readonly agent_id: string;
  readonly capability: Members;
}

function capabilitiesOf(api: Api, offers: readonly OfferVector[]): Core.Capability[] {
  return offers.flatMap(({ agent_id, capability }) => {
    const given = JSON.parse(JSON.stringify({ agent_id, capabilities: [capability] })) as unknown;
    return api.parseManifest(given).capabilities;
  });
}

const DISCOVERY_OPERATIONS: Readonly<Record<string, Judge>> = {
  find: (api, { query, input_text, steps, candidates, at }) => {
    const known = (candidates as Members[]).map((each) => candidateOf(api, each, at));
    const input = input_text === undefined ? {} : { input: JSON.parse(expand(input_text)) };
    const asked = { ...(camel(query) as Core.FindQuery), ...input };
    const budget = steps === undefined ? undefined : { stepsLeft: steps as number };
    const { fits, leftOut } = api.findCandidates(asked, known, at, { budget });
    for (const { reasons } of leftOut) expect(reasons).not.toHaveLength(0);
    return {
      fits: fits.map((each) => each.agent_id),
      left_out: leftOut.map((each) => each.agent_id),
    };
  },
  judge_input: (api, { given, input_text, steps, candidates, at }) => {
    const known = (candidates as Members[]).map((each) => candidateOf(api, each, at));
    const { has_words: hasWords, ...rest } = given as Members & { has_words?: boolean };
    const input = input_text === undefined ? {} : { input: JSON.parse(expand(input_text)) };
    const budget = steps === undefined ? undefined : { stepsLeft: steps as number };
    const judged = api.judgeInput({ ...rest, hasWords, ...input }, known, { budget });
    return {
      may_be_taken: judged.mayBeTaken,
      refusals: judged.refusals.map(({ agent_id, issues }) => ({
        agent_id,
        at: issues.map((issue) => issue.at),
      })),
    };
  },
  takes_from: (api, { from, asker }) => {
    const { groups, on_behalf_of, ...own } = asker as AskerVector & { on_behalf_of?: string };
    const who = api.askerOf({ from: own.agent, on_behalf_of }, own.kid!);
    const [capability] = capabilitiesOf(api, [
      { agent_id: "b", capability: { name: "edit", from } },
    ]);
    // A recipient relies on its hub for groups.
    const isIn = (group: string) => groups?.includes(group) ?? true;
    return { is_taken: api.takesFrom(capability!, who, isIn) };
  },
  may_act_for: (api, { handoff, groups }) =>
    outcome(api, () => {
      api.checkMayActFor(handoff as { from: string }, groups as string[]);
      return {};
    }),
  takers: (api, { to, capability, candidates, asker }) => {
    const { groups = [], ...who } = asker as AskerVector;
    const given = candidates as readonly OfferVector[];
    const wanted = typeof to === "string" ? undefined : (to as { capability: string }).capability;
    const offers = capabilitiesOf(api, given).flatMap((each, index) => {
      const { agent_id: agent } = given[index]!;
      return (wanted ?? capability) === each.name && (wanted !== undefined || agent === to)
        ? [{ agent, from: each.from }]
        : [];
    });
    const takers = offers.filter((each) =>
      api.takesFrom(each, who, (group) => groups.includes(group)),
    );
    if (takers.length > 0) return { takers: takers.map(({ agent }) => agent), status: null };
    const untaken = { from: who.agent, to: to as string, capability: capability as string };
    return {
      takers: [],
      status: api.untakenError({ ...untaken, isOffered: offers.length > 0 }).status,
    };
  },
  shown: (api, { candidates, viewer }) => {
    const given = candidates as readonly OfferVector[];
    const { groups = [], ...who } = viewer as AskerVector;
    const audiences = new Set(api.audiencesFor(viewer === "anybody" ? undefined : who, groups));
    const capabilities = capabilitiesOf(api, given);
    const agents = given.filter(
      (_, index) =>
        viewer === "operator" ||
        api.audiencesOf(capabilities[index]!).some((audience) => audiences.has(audience)),
    );
    return { agents: agents.map(({ agent_id }) => agent_id) };
  },
  quota: (api, { quota, used, at }) => {
    const { open, lately } = used as { open: number; lately: number[] };
    const { per_minute: most = Infinity } = quota as Wire.Quota;
    const earliest = lately[most - 1];
    try {
      api.checkQuota(quota as Wire.Quota, { group: "g", open, earliest }, at as number);
      return { status: null };
    } catch (error) {
      const { status, retryAfterMs } = api.WaybillError.from(error);
      return { status, retry_after_ms: retryAfterMs };
    }
  },
  queue: (api, { waiting }) => {
    const placed = (waiting as { id: string; due_at: number; priority?: number }[]).map(
      ({ id, due_at, priority }) => ({ id, place: api.queuePlace(due_at, priority) }),
    );
    return { order: placed.toSorted((a, b) => a.place - b.place).map(({ id }) => id) };
  },
  eject: (api, { moments }) => {
    let stats = api.NO_STATS;
    const is_out: boolean[] = [];
    for (const { at, status } of moments as { at: number; status?: Core.StatusCode }[]) {
      if (status === undefined) is_out.push(api.isEjected(stats, at));
      else stats = api.recordOutcome(stats, { status, at });
    }
    return { is_out };
  },
};

const CONTRACT_OPERATIONS: Readonly<Record<string, Judge>> = {
  offer: (api, { offer, terms, has_countered: hasCountered }) => ({
    ...api.judgeOffer(offer ?? undefined, terms, { hasCountered }),
  }),
  counter: (api, { counter, offer }) => ({ ...api.judgeCounter(counter, offer ?? undefined) }),
};

const HUB_OPERATIONS: Readonly<Record<string, Judge>> = {
  frames: (api, { to, text, characters }) =>
    outcome(api, () => {
      const read = to === "hub" ? api.readAgentFrames : api.readHubFrames;
      return { types: read(expand(text), { characters }).map(({ type }) => type) };
    }),
  delivery: (api, { value }) => outcome(api, () => ({ type: api.readDelivery(value).type })),
  answer: (api, { http_status: http, body }) => {
    const { status, retryable, retryAfterMs } = api.errorOfResponse(http, body);
    return { status, retryable, retry_after_ms: retryAfterMs };
  },
  hello: (api, { payload, to, domain, nonce, at: now }) =>
    outcome(api, () => {
      api.checkHello(api.readHello(payload), { to, domain, nonce, now, clockSkewMs: 60_000 });
      return {};
    }),
  request: (api, { authorization, to, domain, method, path, at: now, body, keyring }) =>
    outcome(api, () => {
      const { claim, proof, kid } = api.readRequest(authorization);
      const { key } = api.checkRequestKey(claim, keyOf(api, keyring)(kid), now);
      api.verifyCompact(proof, () => key);
      api.checkRequest(claim, { to, domain, method, path, now, clockSkewMs: 60_000 });
      api.checkRequestBody(claim, body === undefined ? undefined : api.digestOf(body));
      return {};
    }),
  operator_request: (api, { authorization, token, method, path, at: now, body }) =>
    outcome(api, () => {
      const claim = api.readOperatorRequest(authorization, token);
      const domain = api.operatorTokenDomain(token)!;
      api.checkRequestLine(claim, { domain, method, path, now, clockSkewMs: 60_000 });
      api.checkRequestBody(claim, body === undefined ? undefined : api.digestOf(body));
      return {};
    }),
  newcomer: (
    api,
    { newcomers, agent, kid, is_allowed: isAllowed, has_invitation: hasInvitation },
  ) =>
    outcome(api, () => {
      api.admissionOf(newcomers, { agent, kid, isAllowed, hasInvitation });
      return {};
    }),
  invitation: (api, { newcomer, agent, expires_at: expiresAt, used_by: usedBy, at }) =>
    outcome(api, () => {
      api.checkInvitation({ agent, expiresAt, usedBy }, newcomer, at);
      return {};
    }),
  enrolment: (api, { manifest, proof, token, domain }) =>
    outcome(api, () => {
      const { kid, payload } = api.readCompact(manifest);
      const { agent_id: agent } = api.parseJson(payload) as { agent_id: string };
      const claim = api.readEnrolment(proof).verify(token);
      api.checkEnrolment(claim, { domain, agent, kid, manifest: api.digestOfJws(manifest) });
      return {};
    }),
  push: (api, input) => {
    const proven = HUB_OPERATIONS["request"]!(api, input, {});
    if (proven["status"] !== "ok") return proven;
    return outcome(api, () => {
      const { challenge } = api.readPush(input["body"]);
      return challenge === undefined ? {} : { echo: challenge };
    });
  },
  domain: (api, { domain, manifests, at }) =>
    outcome(api, () => {
      const chain: Core.VerifiedManifest[] = [];
      for (const text of manifests) {
        chain.push(api.verifyManifest(text, { at, previous: chain.at(-1) }));
      }
      api.checkDomain(domain, chain);
      return {};
    }),
  echo: (api, { challenge, answer }) =>
    outcome(api, () => {
      api.checkEcho(challenge, api.readPushAnswer(answer));
      return {};
    }),
  inbox_contact: (api, { failed, inbox, first_ms: firstMs, most_ms: mostMs, at }) => ({
    may_contact: at >= api.inboxContactAt(failed, inbox, { firstMs, mostMs }),
  }),
  delta_reader: (api, { held, attempt }) => ({
    reader: api.readerOfDelta(held ?? undefined, { attempt }) ?? null,
  }),
  delta_order: (api, { last, delta }) => ({
    is_shown: api.isNextDelta(last ?? undefined, delta),
  }),
  blob_part: (api, { content_range, received, size }) =>
    outcome(api, () => {
      const part = api.readContentRange(content_range);
      api.checkBlobPart(part, { received, size: size ?? undefined });
      return { first: part.first, end: part.end };
    }),
  blob_uploaded: (api, { digest, uploaded }) =>
    outcome(api, () => {
      api.checkUploadedBlob(digest, uploaded);
      return {};
    }),
  blob_named: (api, { digest, size, known }) =>
    outcome(api, () => {
      api.checkNamedBlob({ digest, size, at: "" }, known ?? undefined);
      return {};
    }),
  blob_range: (api, { range, size }) =>
    outcome(api, () => {
      const part = api.readRange(range ?? undefined, size);
      return part === undefined ? {} : { first: part.first, end: part.end };
    }),
  blob_kept: (api, { ended_at, kept_ms }) => ({
    until: api.blobKeptUntil(ended_at, kept_ms) ?? null,
  }),
  blob_received: (api, { named, received }) =>
    outcome(api, () => {
      api.checkBlob(named, received);
      return {};
    }),
  reserved_id: (api, { agent, names }) => ({ is_reserved: api.isReservedId(agent, names) }),
  job: (api, { handoffs }) => {
    const roots = (handoffs as { id: string; delegator: string; recipients: string[] }[]).map(
      ({ recipients, ...root }) => ({ ...root, parties: new Set(recipients) }),
    );
    const { job, apart } = api.jobOf(roots);
    return { job: job.map(({ id }) => id), apart: apart.map(({ id }) => id) };
  },
  hub_id: (api, { domain }) => ({ hub: api.hubIdOf(domain) }),
  address: (api, { address }) => ({ is_inner: api.isInnerAddress(address) }),
};

const SESSION_OPERATIONS: Readonly<Record<string, Judge>> = {
  key: (api, { delegator, session }) =>
    outcome(api, () => ({ key: api.sessionKey(delegator, session) })),
  offer: (api, { holder, recipient, failed }) => {
    const attempts = (failed as string[]).map((each) => ({
      recipient: each,
      closed: "lease_lost",
    }));
    return {
      session: api.sessionOffered(holder ?? undefined, recipient),
      is_holder_first: holder !== null && api.isHolderFirst({ attempts } as never, holder),
    };
  },
  result: (api, { offered, had_conversation }) => ({
    session: api.sessionFound(offered, had_conversation),
  }),
};

// oxlint-disable-next-line typescript/no-explicit-any
const TRACING_OPERATIONS: Readonly<Record<string, (input: any) => Members>> = {
  send: ({ handoff, is_creator }) => ({ ...Tracing.sendSpan(handoff, is_creator) }),
  process: ({ handoff, agent, attempt }) => ({ ...Tracing.processSpan(handoff, agent, attempt) }),
  invoke_agent: ({ handoff, agent }) => ({ ...Tracing.invokeAgentSpan(handoff, agent) }),
  failure: ({ status }) => ({ attributes: Tracing.failureAttributes(status) }),
  usage: ({ rows }) => ({
    attributes: Tracing.usageAttributes(rows),
    points: Tracing.tokenPoints(rows),
  }),
  histogram: () => ({ ...Tracing.TOKEN_USAGE, schema_url: Tracing.CONVENTIONS.schemaUrl }),
};

/** One judge for each file: the result of this implementation for an input. */
const JUDGES: Readonly<Record<string, Judge>> = {
  envelopes: (api, input) => verified(api, input.compact, input),
  receipts: (api, input) => verified(api, input.compact, input),
  batches: (api, input) => ({
    results: (input.compacts as string[]).map((compact) => verified(api, compact, input)),
  }),
  keys: (api, input) => KEY_OPERATIONS[input.operation]!(api, input),
  json: (api, { text }) => outcome(api, () => ({ value: api.parseJson(expand(text)) })),
  "ids-and-times": (api, { kind, text }, expected) => {
    const found = TEXT_KINDS[kind]!(api, text);
    if (expected.of !== undefined) expect(api.digestOf(expected.of)).toBe(text);
    return found === undefined ? { status: 400 } : { status: "ok", of: expected.of, ...found };
  },
  sessions: (api, input, expected) => SESSION_OPERATIONS[input.operation]!(api, input, expected),
  lifecycles: (api, { events }) => {
    let state: Hub.Handoff | undefined;
    const steps = (events as Members[]).map((event) => {
      const next = api.step(state, camel(event) as LifecycleEvent);
      const [reply] = next.effects;
      state = next.state;
      return {
        reply: reply?.type === "reply" ? reply.status : null,
        state: state?.state ?? null,
        status: state?.status ?? null,
      };
    });
    const attempts = state?.attempts.map((each) =>
      each.closed === null ? each.state : `${each.state}:${each.closed}`,
    );
    return { steps, attempts };
  },
  histories: (api, { entries, options }) => {
    const { is_complete: isComplete, hub, clock_skew_ms: clockSkewMs } = options;
    const { holds, violations } = api.checkHistory(entries as HistoryEntry[], {
      isComplete,
      hub,
      clockSkewMs,
    });
    return {
      holds,
      violations: violations.map(({ promise, rule, index }) => ({ promise, rule, index })),
    };
  },
  manifests: (api, input, expected) => MANIFEST_OPERATIONS[input.operation]!(api, input, expected),
  schemas: (api, { schema, schema_text, value, value_text }, expected) =>
    outcome(api, () => {
      const given: unknown = schema_text === undefined ? schema : JSON.parse(expand(schema_text));
      const normalized = api.normalizeSchema(given);
      const compiled = api.compileSchema(normalized);
      if (value === undefined && value_text === undefined) return { normalized };
      const issues = compiled.check(
        value_text === undefined ? value : JSON.parse(expand(value_text)),
      );
      const places = issues.map(({ at, keyword }) => ({ at, keyword }));
      return expected.fits === undefined ? { issues: places } : { fits: issues.length === 0 };
    }),
  discovery: (api, input, expected) => DISCOVERY_OPERATIONS[input.operation]!(api, input, expected),
  hubs: (api, input, expected) => HUB_OPERATIONS[input.operation]!(api, input, expected),
  tracing: (_api, input) => TRACING_OPERATIONS[input.operation]!(input),
  usage: (api, { usage, rows = api.usageRows(usage) }) => ({
    rows: api.mergeUsage(rows),
    total: api.sumUsage(rows),
  }),
  contracts: (api, input, expected) => CONTRACT_OPERATIONS[input.operation]!(api, input, expected),
};

const FILES = fs
  .readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .map((name) => {
    const { cases } = JSON.parse(fs.readFileSync(new URL(name, FOLDER), "utf8")) as {
      cases: Vector[];
    };
    return [name.replace(".json", ""), cases] as const;
  });

test("every file has a judge, and every judge has a file", () => {
  expect(FILES.map(([name]) => name).toSorted()).toEqual(Object.keys(JUDGES).toSorted());
  const cases = FILES.flatMap(([, each]) => each);
  expect(cases.length).toBeGreaterThan(200);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
});

test("the native and the portable path differ", () => {
  const [[, node], [, other]] = PATHS;
  expect(other.publicKeyFrom).not.toBe(node.publicKeyFrom);
});

for (const [path, api] of PATHS) {
  describe.each(FILES)(`%s, on the ${path} path`, (name, cases) => {
    test.each(cases.map((each) => [each.id, each.rule.join(" "), each.title, each] as const))(
      "%s (%s): %s",
      { timeout: 30_000 },
      (_id, _rules, _title, { input, expect: expected }) => {
        // A list must match completely; of an object, the expected members must be in it.
        expect(JUDGES[name]!(api, input, expected)).toMatchObject(expected);
      },
    );
  });
}
