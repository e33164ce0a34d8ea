/** A test by its file, from the folder with the packages, and its whole name. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** One guard of a hub taken away, which a test must notice. */
export interface Mutant {
  readonly name: string;
  /** The source, from the folder with the packages. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The test that must notice it; left out, that of the table of who may do what. */
  readonly seenBy?: NamedTest;
}

const HUB = "hub/src";
const SERVER = "server/src";
const LIFECYCLE = "protocol/src/lifecycle";
const OPERATIONS = `${SERVER}/operations`;

const OPERATORS = `${SERVER}/operators.test.ts`;
const RETIRE = `${SERVER}/admission/retire.test.ts`;
const PINS = `${SERVER}/admission/pins.test.ts`;
const RECOVERY = `${SERVER}/admission/recovery.test.ts`;
const WEBHOOK = `${SERVER}/webhook/webhook.test.ts`;
const BLOBS = `${HUB}/blobs`;
const BLOBS_TEST = `${BLOBS}/blobs.test.ts`;
const COLLECTING = `${BLOBS}/collecting.test.ts`;
const GROUP_COMMIT = `${HUB}/engine/group-commit.ts`;
const GROUP_COMMIT_TEST = `${HUB}/engine/group-commit.test.ts`;
const WRITES = "(written) => group.forEach(({ resolve }, index) => resolve(written[index]!)),";
const UNIX = `${SERVER}/http/unix-socket.test.ts`;
const CONTACTS = `${SERVER}/webhook/contacts.test.ts`;

/** What the specification asks of a hub alone: no test of the protocol can notice it. */
const RULES: readonly Mutant[] = [
  {
    name: "one failed envelope fails the others of its turn",
    file: GROUP_COMMIT,
    find: WRITES,
    replace: `(written) => {
        const unknown = written.find(({ type }) => type === "unknown");
        group.forEach(({ resolve }, index) => resolve(unknown ?? written[index]!));
      },`,
    seenBy: {
      file: GROUP_COMMIT_TEST,
      name: "of the envelopes of one turn, only the one whose commit fails is refused",
    },
  },
  {
    name: "a conflict repeats the decisions of the whole turn",
    file: GROUP_COMMIT,
    find: WRITES,
    replace: `(written) => {
        const conflict = written.find(({ type }) => type === "conflict");
        group.forEach(({ resolve }, index) => resolve(conflict ?? written[index]!));
      },`,
    seenBy: {
      file: GROUP_COMMIT_TEST,
      name: "of the envelopes of one turn, only the one with a conflict is decided again",
    },
  },
  {
    name: "a turn is answered before its commit is done",
    file: GROUP_COMMIT,
    find: "    this.#records\n      .write(group, (written) => this.#confirm(written))",
    replace: `    group.forEach(({ resolve }) => resolve({ type: "unchanged" }));
    this.#records
      .write(group, (written) => this.#confirm(written))`,
    seenBy: {
      file: GROUP_COMMIT_TEST,
      name: "no envelope of a turn is answered before the turn is on disk, which does not hold up the next",
    },
  },
  {
    name: "two envelopes of one handoff are decided on the same state",
    file: `${HUB}/engine/commit-handoff.ts`,
    find: `  return records.queue.run(id, async () => {
    for (`,
    replace: `  return records.queue.run(\`\${id} \${Math.random()}\`, async () => {
    for (`,
    seenBy: {
      file: GROUP_COMMIT_TEST,
      name: "two simultaneous envelopes of one handoff are decided one after the other",
    },
  },
  {
    name: "two simultaneous members of a group get the same index",
    file: `${HUB}/engine/group-members.ts`,
    find: "    this.note({ version: 0, record });",
    replace: "",
    seenBy: {
      file: GROUP_COMMIT_TEST,
      name: "of two simultaneous handoffs for one place of a group, one gets it",
    },
  },
  {
    name: "a group is not notified when its members end",
    file: `${HUB}/engine/commit-handoff.ts`,
    find: "  engine.handoffGroups.note({ version: stored.version, record });",
    replace: "",
    seenBy: {
      file: "agent/src/groups.test.ts",
      name: "the hub cancels the rest of a decided group after its delegator is gone",
    },
  },
  {
    name: "a blob that an envelope names is removed",
    file: `${BLOBS}/naming.ts`,
    find: "    transaction.change(stayed(BLOB_ROWS.blob(hex), blob!.text));",
    replace: "",
    seenBy: {
      file: COLLECTING,
      name: "the last hold on a blob that is due, and another handoff by the same right: whatever is confirmed exists",
    },
  },
  {
    name: "a blob is removed without a second check",
    file: `${BLOBS}/collector.ts`,
    find: "    if ((await this.#keeperOf(hex, by)) !== undefined) {",
    replace: '    if (hex === "") {',
    seenBy: {
      file: COLLECTING,
      name: "an upload that is due, and an upload of the same bytes by another agent: whatever is confirmed exists",
    },
  },
  {
    name: "a blob that is about to be removed counts as kept",
    file: `${BLOBS}/uploads.ts`,
    find: ": stayed(name, known),",
    replace: ": { name, from: known, to: known },",
    seenBy: {
      file: COLLECTING,
      name: "an upload that is due, and an upload of the same bytes by another agent: whatever is confirmed exists",
    },
  },
  {
    name: "a blob is stored under the wrong digest",
    file: `${BLOBS}/uploads.ts`,
    find: "      checkUploadedBlob(digest, uploaded);",
    replace: "      void uploaded;",
    seenBy: {
      file: BLOBS_TEST,
      name: "bytes of another digest are refused, and nothing of them is kept",
    },
  },
  {
    name: "a blob is confirmed before it is on disk",
    file: `${BLOBS}/uploads.ts`,
    find: "      await writer.sync();",
    replace: "",
    seenBy: {
      file: `${BLOBS}/durable.test.ts`,
      name: "a blob is on disk before its row says so, also if it arrived in parts",
    },
  },
  {
    name: "a blob is removed while a handoff that names it is open",
    file: `${BLOBS}/naming.ts`,
    find: "if (!transaction.hasEnded || record.blobs === undefined) return;",
    replace: "if (record.blobs === undefined) return;",
    seenBy: {
      file: BLOBS_TEST,
      name: "a blob is removed some time after the end of the last handoff that names it",
    },
  },
  {
    name: "a retired agent's manifest is accepted",
    file: `${HUB}/registry/registry.ts`,
    find: "      if (previous !== undefined && (await this.isRetired(agent))) {",
    replace: "      if (previous === undefined && (await this.isRetired(agent))) {",
    seenBy: {
      file: RETIRE,
      name: "a retired agent's keys are refused at once, and it is on record",
    },
  },
  {
    name: "a manifest in flight undoes an operator's decision",
    file: `${HUB}/registry/registry.ts`,
    find: "          ...(previous === undefined ? [] : unlessDecided(agent, pin)),\n",
    replace: "",
    seenBy: {
      file: RETIRE,
      name: "a manifest that is on its way when an operator decides to retire does not undo it",
    },
  },
  {
    name: "the old keys of a pinned agent keep working",
    file: `${HUB}/registry/rows.ts`,
    find: "notAfter: Math.min(record.notAfter, at) }] as const);\n  const windows",
    replace: "notAfter: record.notAfter }] as const);\n  const windows",
    seenBy: {
      file: PINS,
      name: "a pin ends the old keys at once, also on open connections",
    },
  },
  {
    name: "a recovery key that has signed before is accepted",
    file: `${HUB}/registry/registry.ts`,
    find: "      await this.#checkRecoveryKey(verified);\n",
    replace: "",
    seenBy: {
      file: RECOVERY,
      name: "a key that has signed for an agent never becomes its recovery key",
    },
  },
  {
    name: "WB-95 an operator's proof can be replayed",
    file: `${SERVER}/access/caller.ts`,
    find: "  used.use(OPERATORS, claim.id, now);\n",
    replace: "",
    seenBy: {
      file: OPERATORS,
      name: "is accepted once, and is 401 when an eavesdropper replays it",
    },
  },
  {
    name: "WB-95 an operator's proof for another address is accepted",
    file: `${SERVER}/access/caller.ts`,
    find: "if (claim.host !== undefined && !isAskedAt(claim.host)) {",
    replace: "if (claim.host !== undefined && claim.host === undefined) {",
    seenBy: { file: OPERATORS, name: "that is signed for another machine is 401" },
  },
  {
    name: "WB-95 an operator's proof for a Unix socket is valid on a port",
    file: `${SERVER}/access/hosts.ts`,
    find: "if (authority === UNIX_ADDRESS) return from === UNIX_ADDRESS;",
    replace: "if (authority === UNIX_ADDRESS) return true;",
    seenBy: {
      file: UNIX,
      name: "WB-95 takes the proof of an operator that names it, and no port does",
    },
  },
  {
    name: "the Unix socket of a running hub is taken over",
    file: `${SERVER}/http/unix-socket.ts`,
    find: `await once(socket, "connect");
    return true;`,
    replace: `await once(socket, "connect");
    return false;`,
    seenBy: { file: UNIX, name: "of a running hub is not taken over" },
  },
  {
    name: "a link in the place of the Unix socket is removed",
    file: `${SERVER}/http/unix-socket.ts`,
    find: "const what = stats.isSymbolicLink()",
    replace: "const what = stats.isSymbolicLink() ? undefined : stats.isSymbolicLink()",
    seenBy: {
      file: UNIX,
      name: "takes no place that something else has, and leaves that as it is",
    },
  },
  {
    name: "strangers on the Unix socket have no limit together",
    file: `${SERVER}/http/connections.ts`,
    find: "this.countFor(connection, isUnix ? UNIX_ADDRESS : networkOf(",
    replace: "this.countFor(connection, isUnix ? key : networkOf(",
    seenBy: { file: UNIX, name: "counts its strangers together, and apart from those on loopback" },
  },
  {
    name: "WB-95 an operator's proof is valid for any path",
    file: `${SERVER}/access/caller.ts`,
    find: "checkRequestLine(claim, { domain: hub.domain, method, path, now, clockSkewMs });",
    replace:
      "checkRequestLine(claim, { domain: hub.domain, method, path: claim.path, now, clockSkewMs });",
    seenBy: { file: OPERATORS, name: "that is signed for another path is 401" },
  },
  {
    name: "WB-97 deliveries are posted to an address that did not echo",
    file: `${SERVER}/webhook/webhooks.ts`,
    find: "checkEcho(challenge, readPushAnswer(text, this.#options.hub.operator.limits.envelopeBytes));",
    replace: "void [checkEcho, text];",
    seenBy: { file: WEBHOOK, name: "53: nothing is delivered to a server that says ok" },
  },
  {
    name: "WB-97 every inbox gets the same challenge",
    file: `${SERVER}/webhook/webhooks.ts`,
    find: "randomBytes(CHALLENGE_BYTES)",
    replace: "Buffer.alloc(CHALLENGE_BYTES)",
    seenBy: { file: WEBHOOK, name: "each attachment challenges with a new nonce" },
  },
  {
    name: "WB-99 an inbox that fails is contacted again at once",
    file: `${SERVER}/webhook/contacts.ts`,
    find: "if (resting > 0) return resting;",
    replace: "",
    seenBy: {
      file: CONTACTS,
      name: "an inbox that has failed is not contacted before its time, whatever is published",
    },
  },
  {
    name: "WB-99 an agent may name any number of inboxes",
    file: `${SERVER}/webhook/contacts.ts`,
    find: '      ["probesPerAgent", this.#agents, agent],\n',
    replace: "",
    seenBy: {
      file: CONTACTS,
      name: "one agent may name a few invalid inboxes, and then one at a time",
    },
  },
  {
    name: "WB-99 a host is contacted as often as it is named",
    file: `${SERVER}/webhook/contacts.ts`,
    find: '      ["probesPerHost", this.#hosts, hostOf(inbox)],\n',
    replace: "",
    seenBy: {
      file: CONTACTS,
      name: "a host is contacted only a few times, however many agents name it, at any port and path",
    },
  },
];

/** Each of them lets somebody do, or learn, what the table gives to others. */
export const MUTANTS: readonly Mutant[] = [
  ...RULES,
  {
    name: "restricted capabilities are open to everybody",
    file: `${HUB}/access/access.ts`,
    find: "return offered.filter(({ terms }) => takesFrom(terms, viewer, (name) => groups.includes(name)));",
    replace: "void [takesFrom, groups];\n    return offered;",
  },
  {
    name: "members of a group are refused",
    file: `${HUB}/access/access.ts`,
    find: "(name) => groups.includes(name)",
    replace: "(name) => groups.length > 99 && name.length > 0",
  },
  {
    name: "a handoff by capability ignores its restriction",
    file: `${HUB}/engine/terms.ts`,
    find: "await access.audiencesOf(asker)",
    replace: "undefined",
  },
  {
    name: "anybody may change groups",
    file: `${OPERATIONS}/groups.ts`,
    find: 'cost: "O(1): one commit of one group, with its at most 1,000 members.",\n      who: "operator",',
    replace:
      'cost: "O(1): one commit of one group, with its at most 1,000 members.",\n      who: "party",',
  },
  {
    name: "the holder of an attempt is not checked",
    file: `${LIFECYCLE}/recipient.ts`,
    find: "if (attempt === undefined || attempt.recipient !== event.by) return refused(state, 403);",
    replace: "if (attempt === undefined) return refused(state, 403);",
  },
  {
    name: "any party may cancel",
    file: `${LIFECYCLE}/lifecycle.ts`,
    find: 'function cancelled(state: Handoff, event: EventOf<"cancel">): Step {\n  if (event.by !== state.delegator) return refused(state, 403);',
    replace: 'function cancelled(state: Handoff, event: EventOf<"cancel">): Step {',
  },
  {
    name: "any party may answer",
    file: `${LIFECYCLE}/question.ts`,
    find: "if (event.by !== state.delegator) return refused(state, 403);",
    replace: "",
  },
  {
    name: "any party may acknowledge",
    file: `${LIFECYCLE}/lifecycle.ts`,
    find: 'function acknowledged(state: Handoff, event: EventOf<"acknowledge">): Step {\n  if (event.by !== state.delegator) return refused(state, 403);',
    replace: 'function acknowledged(state: Handoff, event: EventOf<"acknowledge">): Step {',
  },
  {
    name: "an unknown handoff gets a distinct answer",
    file: `${HUB}/engine/decide.ts`,
    find: "if (record === undefined || !isParty(record, envelope.from)) return 403;",
    replace: "if (record === undefined) return 404 as 403;",
  },
  {
    name: "anybody may name any parent",
    file: `${HUB}/custody/admission.ts`,
    find: "if (parent?.state.attempts.some(({ recipient }) => recipient === from) === true) return;",
    replace: "if (parent !== undefined) return;",
  },
  {
    name: "anybody may replay a dead letter",
    file: `${HUB}/engine/submit.ts`,
    find: "original === undefined || (!isDelegator && !(await engine.access.isOperators(from)))",
    replace: 'original === undefined || (isDelegator && from === "")',
  },
  {
    name: "every agent in some group is an operators' agent",
    file: `${HUB}/access/access.ts`,
    find: "(await this.#groups.of(agent)).includes(OPERATORS_GROUP)",
    replace: "(await this.#groups.of(agent)).length > 0",
  },
  {
    name: "every agent may discard a dead letter",
    file: `${OPERATIONS}/dead-letters.ts`,
    find: 'if (caller.type === "agent") return hub.operator.isOperatorsAgent(caller.agent);',
    replace: 'if (caller.type === "agent") return true;',
  },
  {
    name: "a handoff is shown to anybody who knows its id",
    file: `${HUB}/operator.ts`,
    find: "if (record === undefined || (as !== undefined && !isParty(record, as))) return undefined;",
    replace: "if (record === undefined) return undefined;",
  },
  {
    name: "a history is shown to anybody who knows its id",
    file: `${OPERATIONS}/handoffs.ts`,
    find: "if ((await operator.handoff(id, asWhom(caller))) === undefined) throw unknown(id);",
    replace: "if ((await operator.handoff(id)) === undefined) throw unknown(id);",
  },
  {
    name: "a listing by correlation id shows everybody's handoffs",
    file: `${HUB}/engine/correlated.ts`,
    find: "if (as !== undefined && !isParty(record, as)) continue;",
    replace: "",
  },
  {
    name: "dead letters are listed to everybody",
    file: `${OPERATIONS}/dead-letters.ts`,
    find: "await served.hub.deadLetters.list({ after, limit }, asWhom(caller));",
    replace: "await served.hub.deadLetters.list({ after, limit });",
  },
  {
    name: "a dead letter is shown to everybody",
    file: `${OPERATIONS}/dead-letters.ts`,
    find: "if (as === undefined || letter.delegator === as) return letter;",
    replace: 'if (as !== "") return letter;',
  },
  {
    name: "a socket can read the handoffs of others",
    file: `${HUB}/open-hub.ts`,
    find: "return found === undefined || !isParty(found.record, as)",
    replace: 'return found === undefined || as === ""',
  },
  {
    name: "agents are treated as operators",
    file: `${SERVER}/http/routes.ts`,
    find: 'operator: ({ type }) => type === "operator",',
    replace: "operator: isKnown,",
  },
  {
    name: "unsigned requests may read the registry",
    file: `${SERVER}/http/routes.ts`,
    find: "(isOpenRegistry ?? isLocal) || isKnown(caller)",
    replace: "(isOpenRegistry ?? isLocal) || isKnown(caller) || true",
  },
  {
    name: "a retired key is accepted by the API",
    file: "protocol/src/wire/request-proof.ts",
    find: "if (isKeyValidAt(record, now)) return record;",
    replace: "if (record.notBefore <= now) return record;",
  },
  {
    name: "a retired key is accepted on a socket",
    file: `${HUB}/registry/hello-verifier.ts`,
    find: "if (record.agent !== agent || now < record.notBefore || now >= record.notAfter) {",
    replace: "if (record.agent !== agent) {",
  },
  {
    name: "a socket can be opened in the name of others",
    file: `${HUB}/registry/hello-verifier.ts`,
    find: "if (record.agent !== agent || now < record.notBefore || now >= record.notAfter) {",
    replace: "if (now < record.notBefore || now >= record.notAfter) {",
  },
  {
    name: "a metrics token is accepted as an operator token",
    file: `${SERVER}/access/caller.ts`,
    find: 'const isMetrics = method === "GET" && path === METRICS && metricsToken !== undefined;',
    replace: "const isMetrics = metricsToken !== undefined;\n  void [method, path];",
  },
  {
    name: "an envelope's sender is not checked against its key",
    file: "protocol/src/envelope/verify-envelope.ts",
    find: "if (envelope.from !== signer.agent) {",
    replace: "if (signer.agent === undefined) {",
  },
  {
    name: "a custody receipt reveals whether a handoff exists",
    file: `${HUB}/custody/handoff-transaction.ts`,
    find: "if (found === undefined) return 403;",
    replace: 'if (found === undefined) return envelope.kind === "receipt" ? 400 : 403;',
  },
  {
    name: "a report to the inbox counts for another agent's attempt",
    file: `${HUB}/engine/commit-frame.ts`,
    find: "const event = { type, by: attached.agent, attempt, at: transaction.at } as const;",
    replace:
      "const holder = transaction.record?.state.attempts[attempt - 1]?.recipient;\n      const event = { type, by: holder ?? attached.agent, attempt, at: transaction.at } as const;",
  },
  {
    name: "a listing's cursor reveals the ids of others",
    file: `${HUB}/engine/correlated.ts`,
    find: "if (as !== undefined && !isParty(record, as)) continue;",
    replace: "if (as !== undefined && !isParty(record, as)) return { handoffs, last: each.id };",
  },
  {
    name: "anybody may admit agents",
    file: `${OPERATIONS}/admission.ts`,
    find: `      cost: "O(1): one commit.",
      who: "operator",
      body: allowed,`,
    replace: `      cost: "O(1): one commit.",
      who: "anyone",
      body: allowed,`,
  },
  {
    name: "a blob is sent to anybody who requests it",
    file: `${BLOBS}/rights.ts`,
    find: "if (!isUploaded && !(await this.isReader(hex, agent))) return undefined;",
    replace: "if (!isUploaded && agent === hex) return undefined;",
  },
  {
    name: "anybody who knows a blob's digest may name it",
    file: `${BLOBS}/naming.ts`,
    find: "original?.blobs?.includes(hex) === true;",
    replace: "original?.blobs?.includes(hex) !== null;",
  },
];
