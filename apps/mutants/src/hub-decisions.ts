import { testsOf } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

const acknowledge = testsOf("src/engine/acknowledge.test.ts");
const sharedReceipts = testsOf("src/engine/shared-receipts.test.ts");
const submit = testsOf("src/engine/submit.test.ts");
const ends = testsOf("src/engine/ends.test.ts");
const dueTimers = testsOf("src/engine/due-timers.test.ts");
const actingFor = testsOf("src/groups/acting-for.test.ts");
const quotas = testsOf("src/groups/quotas.test.ts");
const admission = testsOf("src/admission/admission.test.ts");

const LISTS: readonly Mutant[] = [
  {
    name: "a refused handoff of a list is not named in the receipt",
    file: "src/engine/acknowledge.ts",
    find: "isRefused(answers[index]!) ? [{ handoff_id, status: answers[index]! }] : []",
    replace: "answers[index] === 508 ? [{ handoff_id, status: answers[index] }] : []",
    seenBy: acknowledge(
      "a handoff that can't be acknowledged is refused in the receipt, and affects no other",
    ),
  },
  {
    name: "a list may be about another's handoff",
    file: "src/engine/acknowledge.ts",
    find: "own !== undefined && own.state.delegator === envelope.from;",
    replace: "own !== undefined;",
    seenBy: acknowledge("a list about another's handoff is refused, whatever else it names"),
  },
  {
    name: "one refused handoff refuses the whole list",
    file: "src/engine/acknowledge.ts",
    find: "if (expected.every(isRefused))",
    replace: "if (expected.some(isRefused))",
    seenBy: acknowledge(
      "a handoff that can't be acknowledged is refused in the receipt, and affects no other",
    ),
  },
  {
    name: "a list is not put on record",
    file: "src/engine/acknowledge.ts",
    find: "const isNew = await putOnRecord(engine, list, expected.includes(100));",
    replace: "const isNew = true;",
    seenBy: acknowledge("one envelope acknowledges several handoffs, and gets one receipt"),
  },
  {
    name: "a list is in the history of its first handoff",
    file: "src/engine/acknowledge.ts",
    find: "const entries = [entryApart(engine.clock.now(), list)];",
    replace:
      "const { handoff_id: handoffId } = list.envelope;\n    const entries = [{ ...entryApart(engine.clock.now(), list), handoffId }];",
    seenBy: acknowledge("the histories of the handoffs do not name each other"),
  },
  {
    name: "a repeated list completes nothing",
    file: "src/engine/acknowledge.ts",
    find: "expected[index] === 100 ? settle(engine, list, each) : expected[index]!",
    replace: "expected[index] === 100 && isNew ? settle(engine, list, each) : expected[index]!",
    seenBy: acknowledge("a list is completed by its repetition if the store fails at commit 2"),
  },
  {
    name: "each repetition of a list gets another receipt",
    file: "src/engine/acknowledge.ts",
    find: "const id = status === 100 ? engine.newId() : repeated;",
    replace: "const id = status === 100 || repeated !== undefined ? engine.newId() : repeated;",
    seenBy: acknowledge("a repetition is answered 201, and changes nothing"),
  },
  {
    name: "a list acknowledges a dead letter with any digest",
    file: "src/engine/decide.ts",
    find: "if (isOfAnotherNotice(transaction, by, outcome)) return 409;",
    replace: "void isOfAnotherNotice;",
    seenBy: acknowledge("a dead letter is acknowledged with its notice, and with nothing else"),
  },
  {
    name: "a list may be addressed to anybody",
    file: "src/engine/acknowledge.ts",
    find: "if (!isOwn || envelope.to !== engine.id) throw refusal(403, envelope);",
    replace: "if (!isOwn) throw refusal(403, envelope);",
    seenBy: acknowledge("a list of which everything is refused is refused, and leaves no entry"),
  },
];

const SHARED_RECEIPTS: readonly Mutant[] = [
  {
    name: "a receipt names an envelope that was not written",
    file: "src/custody/handoff-records.ts",
    find: "dependsOn: of.map((pending) => places.get(pending)!),",
    replace: "dependsOn: of.slice(0, 0).map((pending) => places.get(pending)!),",
    seenBy: sharedReceipts(
      "if the commit of one conflicts, no receipt names it before it is taken",
    ),
  },
  {
    name: "a receipt that is not on disk is sent",
    file: "src/custody/handoff-records.ts",
    find: 'if (outcomes[writes.length + index]!.type !== "committed") return;',
    replace: "void index;",
    seenBy: sharedReceipts("a receipt of its own for each, if the common one is not written"),
  },
  {
    name: "whoever carries envelopes gets one receipt for several",
    file: "src/engine/submit.ts",
    find: "{ sharesReceipt: verified.envelope.from === as }",
    replace: "{ sharesReceipt: as !== undefined }",
    seenBy: sharedReceipts(
      "the envelopes that somebody else carries for their sender get a receipt each",
    ),
  },
  {
    name: "agents get one receipt together",
    file: "src/engine/group-commit.ts",
    find: "commit.sharesReceipt === true ? commit.transaction.applied!.envelope.from : commit;",
    replace: 'commit.sharesReceipt === true ? "all" : commit;',
    seenBy: sharedReceipts("two agents in one turn get a receipt each"),
  },
  {
    name: "a receipt for several is in the history of its first handoff",
    file: "src/engine/group-commit.ts",
    find: "entry: entryApart(this.#clock.now(), receipt)",
    replace:
      "entry: { ...entryApart(this.#clock.now(), receipt), handoffId: receipt.envelope.handoff_id }",
    seenBy: sharedReceipts("a receipt for several is in the history of no handoff"),
  },
  {
    name: "what is taken without the common receipt counts as a repetition",
    file: "src/engine/submit.ts",
    find: "confirmAlone(engine, verified, 100)",
    replace: "confirmAlone(engine, verified, 201)",
    seenBy: sharedReceipts(
      "if the commit of one conflicts, no receipt names it before it is taken",
    ),
  },
  {
    name: "a custody receipt of an agent is taken as an acknowledgement",
    file: "src/engine/acknowledge.ts",
    find: "body.status === 200 && body.also !== undefined",
    replace: "body.also !== undefined",
    seenBy: sharedReceipts("a party can't send a receipt for several as if it were the hub"),
  },
];

const ENGINE: readonly Mutant[] = [
  {
    name: "anybody acts for others",
    file: "src/engine/decide.ts",
    find: "if (envelope.on_behalf_of !== undefined) await engine",
    replace: 'if (envelope.on_behalf_of === "") await engine',
    seenBy: actingFor("WB-216 an agent acts for others once an operator has made it an edge"),
  },
  {
    name: "what waits for a principal is offered by the permissions of the edge",
    file: "src/custody/handoff-record.ts",
    find: "return askerOf({ from: state.delegator, on_behalf_of: onBehalfOf }, kid);",
    replace:
      "return askerOf({ from: state.delegator, on_behalf_of: onBehalfOf && undefined }, kid);",
    seenBy: actingFor("WB-217 waiting work is offered by what the principal may do at that moment"),
  },
  {
    name: "the open handoffs of a principal are forgotten at a restart",
    file: "src/custody/handoff-record.ts",
    find: "...ownersOf(record).map(openBoxOf)",
    replace: "...ownersOf(record).slice(0, 1).map(openBoxOf)",
    seenBy: actingFor(
      "WB-217 the quota of a group holds for its principals, over a restart, until their work ends",
    ),
  },
  {
    name: "a handoff counts twice in a group that lists edge and principal",
    file: "src/engine/open-handoffs.ts",
    find: 'owners.filter((each) => !all.has(edgeOf(each) ?? ""))',
    replace: "owners.filter((each) => all.has(each))",
    seenBy: actingFor("WB-217 a handoff counts once in a group that lists both edge and principal"),
  },
  {
    name: "principals of one edge share a session",
    file: "src/custody/handoff-transaction.ts",
    find: "sessionKey(principalOf(envelope), session.id)",
    replace: "sessionKey(principalOf(envelope).split('/')[0]!, session.id)",
    seenBy: actingFor("WB-221 the same session of two principals is two sessions"),
  },
  {
    name: "a result is addressed to anybody",
    file: "src/engine/decide.ts",
    find: `  if (!isAddressed(envelope, record.state, engine.id)) return 403;
`,
    replace: `  void isAddressed;
`,
    seenBy: submit("a result addressed to any agent but the delegator is refused with 403"),
  },
  {
    name: "a handoff is its own parent",
    file: "src/engine/submit.ts",
    find: "if (parentId === id) throw",
    replace: 'if (parentId === "") throw',
    seenBy: submit("a handoff is not its own parent"),
  },
  {
    name: "an open handoff is replayed",
    file: "src/engine/submit.ts",
    find: 'original.state.state === "open"',
    replace: 'original.state.state !== "open" && replayOf === ""',
    seenBy: submit("a replay > is refused while the handoff is open"),
  },
  {
    name: "anybody replays a handoff",
    file: "src/engine/submit.ts",
    find: "original?.state.delegator === from",
    replace: "original !== undefined",
    seenBy: submit("a replay > is allowed only to its delegator and to operators"),
  },
  {
    name: "operators may not replay a handoff",
    file: "src/access/access.ts",
    find: "if (this.#operators.includes(agent)) return true;",
    replace: "if (this.#operators.includes(agent)) return false;",
    seenBy: submit("a replay > is allowed only to its delegator and to operators"),
  },
  {
    name: "members of the operators' group may not replay a handoff",
    file: "src/access/access.ts",
    find: "(await this.#groups.of(agent)).includes(OPERATORS_GROUP)",
    replace: "this.#operators.includes(OPERATORS_GROUP)",
    seenBy: submit(
      "a replay > is allowed to a member of the operators' group as long as it is one",
    ),
  },
  {
    name: "operators replay a handoff each time that they are asked",
    file: "src/engine/submit.ts",
    find: "!isDelegator && original.replayedBy !== null",
    replace: "!isDelegator && original.replayedBy === replayOf",
    seenBy: submit("a replay > is made by operators once, also by two at the same time"),
  },
  {
    name: "a replay is noted each time that it is sent",
    file: "src/engine/decide.ts",
    find: `    if (transaction.record?.replayedBy !== null) return;
`,
    replace: "",
    seenBy: submit("a replay > is noted at the handoff once"),
  },
  {
    name: "a replay is not noted",
    file: "src/engine/submit.ts",
    find: `  const receipt = await work();
  await markReplayed(engine, replayOf, envelope.handoff_id);
`,
    replace: `  const receipt = await work();
`,
    seenBy: submit("a replay > is noted at the handoff once"),
  },
  {
    name: "children go on after the end of their parent",
    file: "src/engine/conclude.ts",
    find: `  if (hasChildren) transaction.addAfterEnd("children");
`,
    replace: "",
    seenBy: ends("the end of a handoff > ends its open children, and nothing else"),
  },
  {
    name: "a parent forgets that it has children",
    file: "src/engine/decide.ts",
    find: "if (!transaction.record!.hasChildren) transaction.amend({ hasChildren: true });",
    replace: "",
    seenBy: ends("the end of a handoff > ends its open children, and nothing else"),
  },
  {
    name: "the end reaches the children that have ended, and no others",
    file: "src/engine/after-end.ts",
    find: 'child.state === "open" ? [endWithParent(engine, child.id)] : []',
    replace: 'child.state !== "open" ? [endWithParent(engine, child.id)] : []',
    seenBy: ends("the end of a handoff > ends its open children, and nothing else"),
  },
  {
    name: "a decided group goes on",
    file: "src/engine/conclude.ts",
    find: `  if (mayDecideGroup(transaction)) transaction.addAfterEnd("group");
`,
    replace: `  void mayDecideGroup;
`,
    seenBy: ends("a group > that needs any one is ended by its first result"),
  },
  {
    name: "a success is taken for what decides a group of which all are needed",
    file: "src/engine/conclude.ts",
    find: '(state.state === "completed" ? "all" : "any")',
    replace: '(state.state === "completed" ? "any" : "all")',
    seenBy: ends("a group > that needs all is ended by the first failure"),
  },
  {
    name: "a group ends that is not decided",
    file: "src/engine/end-group.ts",
    find: "if (!members.isDecided()) return;",
    replace: "if (members.size === 0) return;",
    seenBy: ends("a group > that needs a quorum continues until it is reached"),
  },
  {
    name: "an end is not delivered again",
    file: "src/engine/deliveries.ts",
    find: `    if (state.delegator === attached.agent) {
      for (const digest of envelopesForDelegator(record)) {
        if (given.has(digest)) continue;`,
    replace: `    if (state.delegator === attached.agent) {
      for (const digest of envelopesForDelegator(record)) {
        if (!given.has(digest)) continue;`,
    seenBy: ends(
      "the end of a handoff > is delivered to its delegator again until it is acknowledged",
    ),
  },
  {
    name: "silence while no hub was there is the recipient's",
    file: "src/engine/due-events.ts",
    find: "live.silentAt < openedAt;",
    replace: "live.silentAt < 0 * openedAt;",
    seenBy: dueTimers(
      "an attempt > that was silent while the hub was down gets one more lease, and only one",
    ),
  },
  {
    name: "a lease is given again and again",
    file: "src/engine/due-events.ts",
    find: "live.silentAt < openedAt;",
    replace: "live.silentAt <= openedAt + 3_600_000;",
    seenBy: dueTimers(
      "an attempt > is kept by heartbeats, and lost one lease after the last of them",
    ),
  },
  {
    name: "an attempt that was taken is never missed",
    file: "src/engine/commit-frame.ts",
    find: `  engine.acceptanceTimers.note(handoffId, { by, attempt, at, until });
`,
    replace: `  void [by, at, until];
`,
    seenBy: dueTimers("an attempt > that is taken and not accepted in time is lost"),
  },
  {
    name: "anybody's heartbeat keeps a lease",
    file: "src/engine/commit-frame.ts",
    find: "by: attached.agent, attempt, at: transaction.at",
    replace:
      "by: transaction.record?.state.attempts[attempt - 1]?.recipient ?? attached.agent, attempt, at: transaction.at",
    seenBy: dueTimers("an attempt > is not kept by another agent's heartbeats"),
  },
  {
    name: "a deadline is not noted",
    file: "src/engine/commit-handoff.ts",
    find: "  engine.timers.note(stored.wakeAt);\n  if (transaction.isChanged)",
    replace: "  if (transaction.isChanged)",
    seenBy: dueTimers("a handoff ends with 504 at its deadline, not earlier"),
  },
];

const GROUPS: readonly Mutant[] = [
  {
    name: "a quota is not checked",
    file: "src/groups/quotas.ts",
    find: `        checkQuota(quota, use, now);
`,
    replace: `        void [checkQuota, use];
`,
    seenBy: quotas("the open handoffs of a group > are bounded for all of its members together"),
  },
  {
    name: "a quota is for each member alone",
    file: "src/groups/quotas.ts",
    find: "open: quota.open === undefined ? 0 : open.countOf(members)",
    replace: "open: quota.open === undefined ? 0 : open.countOf([delegator])",
    seenBy: quotas("the open handoffs of a group > are bounded for all of its members together"),
  },
  {
    name: "the handoffs of a minute are not counted",
    file: "src/groups/quotas.ts",
    find: "minute === undefined ? [] : [{ minute, ...minute.take(now) }]",
    replace: 'minute === undefined || delegator !== "" ? [] : [{ minute, ...minute.take(now) }]',
    seenBy: quotas(
      "the handoffs of a group in a minute > are bounded for all of its members together, until a minute has passed",
    ),
  },
  {
    name: "what the store has failed to write counts",
    file: "src/groups/quotas.ts",
    find: "for (const { minute, slot, before } of this.#taken.get(id) ?? []) minute.giveBack(slot, before);",
    replace: "",
    seenBy: quotas(
      "the handoffs of a group in a minute > do not count what the store has failed to write",
    ),
  },
  {
    name: "the newest of a minute makes room first",
    file: "src/groups/minute.ts",
    find: "this.#slots = slots.toSorted((a, b) => a.at - b.at);",
    replace: "this.#slots = slots.toSorted((a, b) => b.at - a.at);",
    seenBy: quotas(
      "the handoffs of a group in a minute > are remembered over a restart, each with its time",
    ),
  },
  {
    name: "a group is never read again",
    file: "src/groups/groups.ts",
    find: "if (changes === this.#known.changes) return this.#known;",
    replace:
      "if (this.#known.groups.size > 0 || changes === this.#known.changes) return this.#known;",
    seenBy: quotas(
      "the open handoffs of a group > of somebody who is taken out of it count no more",
    ),
  },
  {
    name: "one group of an agent more than the limit",
    file: "src/groups/groups.ts",
    find: "own.length >= groupsOfAgent && !own.includes(name)",
    replace: "own.length > groupsOfAgent && !own.includes(name)",
    seenBy: quotas("a group has no room for an agent that is in too many"),
  },
  {
    name: "one member of a group more than the limit",
    file: "src/groups/groups.ts",
    find: `members.size > GROUP_LIMITS.members
`,
    replace: `members.size > GROUP_LIMITS.members + 1
`,
    seenBy: quotas("a group has at most a thousand members"),
  },
];

const ADMISSION: readonly Mutant[] = [
  {
    name: "an invitation is not used up",
    file: "src/admission/admission.ts",
    find: "settings: [change], entries",
    replace: 'settings: change.name === "" ? [change] : [], entries',
    seenBy: admission("a hub that takes the invited alone > takes an invitation once"),
  },
  {
    name: "a used invitation is taken",
    file: "src/admission/invitations.ts",
    find: "checkInvitation({ agent, expiresAt, usedBy }, claim.agent, now);",
    replace: `checkInvitation({ agent, expiresAt }, claim.agent, now);
  void usedBy;`,
    seenBy: admission("a hub that takes the invited alone > takes an invitation once"),
  },
  {
    name: "an invitation never expires",
    file: "src/admission/invitations.ts",
    find: "checkInvitation({ agent, expiresAt, usedBy }, claim.agent, now);",
    replace: `checkInvitation({ agent, expiresAt: Infinity, usedBy }, claim.agent, now);
  void expiresAt;`,
    seenBy: admission("a hub that takes the invited alone > takes an invitation until it expires"),
  },
  {
    name: "an invitation for one agent is for everybody",
    file: "src/admission/invitations.ts",
    find: "checkInvitation({ agent, expiresAt, usedBy }, claim.agent, now);",
    replace: "checkInvitation({ expiresAt, usedBy }, claim.agent, now);",
    seenBy: admission(
      "a hub that takes the invited alone > takes an invitation for the agent that it names alone",
    ),
  },
  {
    name: "the proof of an invitation is not verified",
    file: "src/admission/invitations.ts",
    find: `  checkEnrolment(verify(row.token), claim);
`,
    replace: `  void [checkEnrolment, verify];
`,
    seenBy: admission(
      "a hub that takes the invited alone > takes no invitation that was revoked, and no proof for another manifest",
    ),
  },
  {
    name: "whoever comes is let in",
    file: "src/registry/registry.ts",
    find: "previous === undefined ? await this.#admission.admit(newcomer, publication, at) : NO_MORE",
    replace: "previous === null ? await this.#admission.admit(newcomer, publication, at) : NO_MORE",
    seenBy: admission(
      "a hub that takes the invited alone > refuses whoever comes without an invitation",
    ),
  },
  {
    name: "a key that an operator has let in is refused",
    file: "src/admission/admission.ts",
    find: `for (const name of names) {
      if`,
    replace: `for (const name of names.slice(0, 1)) {
      if`,
    seenBy: admission(
      "a hub that takes the invited alone > takes whom an operator has let in, by the key or the name",
    ),
  },
  {
    name: "a pin is not used up",
    file: "src/admission/pins.ts",
    find: "settings: [{ name: pinSetting(agent), from: kid, to: null }],",
    replace: "settings: [],",
    seenBy: admission("an operator's pin > holds an agent to the pinned key, and is used up by it"),
  },
  {
    name: "a retired agent publishes",
    file: "src/registry/registry.ts",
    find: "if (previous !== undefined && (await this.isRetired(agent))) {",
    replace: "if (previous === undefined && (await this.isRetired(agent))) {",
    seenBy: admission("an agent that an operator has retired publishes and hands off nothing more"),
  },
];

/** Faults in what the hub decides: custody, ends, timers, groups and admission. */
export const DECISIONS: readonly Mutant[] = [
  ...LISTS,
  ...SHARED_RECEIPTS,
  ...ENGINE,
  ...GROUPS,
  ...ADMISSION,
];
