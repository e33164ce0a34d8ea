import { DECISIONS } from "./hub-decisions.ts";
import { testsOf } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

const admission = testsOf("src/custody/admission.test.ts");
const openHandoffs = testsOf("src/engine/open-handoffs.test.ts");
const terms = testsOf("src/engine/terms.test.ts");
const attachAgent = testsOf("src/routing/attach-agent.test.ts");
const measured = testsOf("src/registry/measured.test.ts");
const registry = testsOf("src/registry/registry.test.ts");

const CUSTODY: readonly Mutant[] = [
  {
    name: "a closed attempt can hand off children",
    file: "src/custody/admission.ts",
    find: 'attempt.recipient === child.from && attempt.state !== "closed"',
    replace: "attempt.recipient === child.from",
    seenBy: admission(
      "a child of a handoff > is refused with 410 once the attempt is closed, though the parent is open",
    ),
  },
  {
    name: "children of an ended parent start",
    file: "src/custody/admission.ts",
    find: 'if (state.state !== "open" || !isHolder) {',
    replace: 'if (state.state === "open" && !isHolder) {',
    seenBy: admission("a child of a handoff > is refused with 410 once the parent has ended"),
  },
  {
    name: "an agent that does not work on a parent can hand off its children",
    file: "src/custody/admission.ts",
    find: "some(({ recipient }) => recipient === from) === true) return;",
    replace: "some(({ recipient }) => recipient === from) !== null) return;",
    seenBy: admission(
      "a child of a handoff > is refused with 403 from any other agent, whether or not there is such a parent",
    ),
  },
  {
    name: "a child's deadline may be later than its parent's",
    file: "src/custody/admission.ts",
    find: "parseTime(child.deadline)! > state.deadline",
    replace: "parseTime(child.deadline)! < state.deadline - 86_400_000",
    seenBy: admission("a child of a handoff > may not outlive its parent"),
  },
  {
    name: "the depth of children is not limited",
    file: "src/custody/admission.ts",
    find: "(child.hop ?? 0) !== parent.hop + 1",
    replace: "(child.hop ?? 0) > parent.hop + 1",
    seenBy: admission("a child of a handoff > counts one hop more than its parent"),
  },
  {
    name: "a child may belong to another job",
    file: "src/custody/admission.ts",
    find: "if (child.correlation_id !== parent.correlationId) {",
    replace: "if (child.correlation_id === undefined) {",
    seenBy: admission("a child of a handoff > belongs to the job of its parent"),
  },
  {
    name: "a child may belong to another trace",
    file: "src/custody/admission.ts",
    find: "parent.traceId !== null && traceIdOf(child) !== parent.traceId",
    replace: "parent.traceId === null && traceIdOf(child) !== parent.traceId",
    seenBy: admission("a child of a handoff > belongs to the trace of its parent"),
  },
  {
    name: "one child over the limit is accepted",
    file: "src/custody/admission.ts",
    find: "count >= limits.fanOut",
    replace: "count > limits.fanOut",
    seenBy: admission("a child of a handoff > is limited in number"),
  },
  {
    name: "children are not counted",
    file: "src/engine/submit.ts",
    find: "    await checkFanOut(engine.store, parentId, engine.limits);\n",
    replace: "    void checkFanOut;\n",
    seenBy: admission("a child of a handoff > is limited in number"),
  },
  {
    name: "a reply may belong to another job",
    file: "src/custody/admission.ts",
    find: "if (envelope.correlation_id !== record.correlationId) {",
    replace: "if (envelope.correlation_id === undefined) {",
    seenBy: admission("an envelope about a handoff > is refused under another correlation id"),
  },
  {
    name: "a reply may belong to another trace",
    file: "src/custody/admission.ts",
    find: "traceId !== null && record.traceId !== null && traceId !== record.traceId",
    replace: "traceId !== null && record.traceId === null && traceId !== record.traceId",
    seenBy: admission("an envelope about a handoff > is refused in another trace"),
  },
  {
    name: "two members of a group may have the same index",
    file: "src/engine/group-members.ts",
    find: "member.index !== index || replayOf === memberId) continue;",
    replace: "member.index !== index || replayOf !== memberId) continue;",
    seenBy: admission("a member of a group > is refused in a place that is taken"),
  },
  {
    name: "members of a group may state different sizes",
    file: "src/engine/group-members.ts",
    find: "this.#rule.size === size &&",
    replace: "size > 0 &&",
    seenBy: admission(
      "a member of a group > is refused with other terms than those of the other members",
    ),
  },
  {
    name: "members of a group may belong to another job",
    file: "src/engine/group-members.ts",
    find: "this.#correlationId === record.correlationId;",
    replace: 'record.correlationId !== "";',
    seenBy: admission(
      "a member of a group > is refused with other terms than those of the other members",
    ),
  },
];

const ENGINE: readonly Mutant[] = [
  {
    name: "one failed count refuses a delegator until a restart",
    file: "src/engine/open-handoffs.ts",
    find: "      this.#counts.delete(delegator);\n      throw error;",
    replace: "      throw error;",
    seenBy: openHandoffs(
      "a failed count of a delegator's open handoffs is repeated at its next handoff",
    ),
  },
  {
    name: "one open handoff over the limit is accepted",
    file: "src/engine/open-handoffs.ts",
    find: "count.ids.size >= this.#most",
    replace: "count.ids.size > this.#most",
    seenBy: openHandoffs(
      "a delegator is limited in its open handoffs, and may hand off again when one has ended",
    ),
  },
  {
    name: "an ended handoff still counts as open",
    file: "src/engine/open-handoffs.ts",
    find: "    this.leave(principal === undefined ? [delegator] : [delegator, principal], id);",
    replace: "    this.#add(delegator, id);",
    seenBy: openHandoffs(
      "a delegator is limited in its open handoffs, and may hand off again when one has ended",
    ),
  },
  {
    name: "handoffs that were open before a restart are not counted",
    file: "src/engine/open-handoffs.ts",
    find: "if (count.endedMeanwhile.has(id)) continue;",
    replace: "if (!count.endedMeanwhile.has(id)) continue;",
    seenBy: openHandoffs("handoffs that were open before a restart count after it"),
  },
  {
    name: "a handoff that ends while it is counted stays open in the count",
    file: "src/engine/open-handoffs.ts",
    find: "    if (count?.isLoading === true) count.endedMeanwhile.add(id);\n",
    replace: "",
    seenBy: openHandoffs("a handoff that ends during the count is not counted as open"),
  },
  {
    name: "the smaller of two leases is used",
    file: "src/engine/terms.ts",
    find: "leaseMs: Math.max(",
    replace: "leaseMs: Math.min(",
    seenBy: terms("the lease is the largest of all agents that can take the handoff"),
  },
  {
    name: "the smaller of two numbers of attempts is used",
    file: "src/engine/terms.ts",
    find: "maxAttempts: Math.max(",
    replace: "maxAttempts: Math.min(",
    seenBy: terms("the terms are the widest of all offers"),
  },
  {
    name: "only the terms of the first offer are used",
    file: "src/engine/terms.ts",
    find: "const each = offered.map((capability)",
    replace: "const each = offered.slice(0, 1).map((capability)",
    seenBy: terms("the terms are the widest of all offers"),
  },
];

const ROUTING: readonly Mutant[] = [
  {
    name: "a store failure while an inbox is restored skips the inbox",
    file: "src/routing/attach-agent.ts",
    find: "    if (WaybillError.is(error, 503)) throw error;\n",
    replace: "",
    seenBy: attachAgent(
      "what an agent has missed > is not skipped where the store fails: the agent is let go, and has all of it when it attaches again",
    ),
  },
  {
    name: "an agent whose inbox could not be read stays attached",
    file: "src/routing/attach-agent.ts",
    find: "    attached.endUnserved(error);\n",
    replace: "",
    seenBy: attachAgent(
      "what an agent has missed > is not skipped where the store fails: the agent is let go, and has all of it when it attaches again",
    ),
  },
  {
    name: "a damaged record prevents an agent from attaching",
    file: "src/routing/attach-agent.ts",
    find: "    if (WaybillError.is(error, 503)) throw error;\n",
    replace: "    throw error;\n",
    seenBy: attachAgent(
      "what an agent has missed > comes without what is damaged, which keeps nothing else up",
    ),
  },
  {
    name: "an attempt that an agent holds takes no room after it reattaches",
    file: "src/engine/deliveries.ts",
    find: `    attached.hold(state.id, {
      attempt: live.number,
      capability: record.capability,
      delegator: state.delegator,
    });
    await this.#offer(`,
    replace: "    await this.#offer(",
    seenBy: attachAgent(
      "what an agent has missed > is the attempt that it holds, and its room is taken by that",
    ),
  },
  {
    name: "the end of an old connection removes the new one",
    file: "src/routing/attach-agent.ts",
    find: "if (engine.agentSessions.get(agent) === who) engine.agentSessions.delete(agent);",
    replace: "engine.agentSessions.delete(agent);",
    seenBy: attachAgent(
      "an agent that attaches again > stays attached when the end of its old line is noticed",
    ),
  },
  {
    name: "two processes of one agent keep replacing each other",
    file: "src/routing/attach-agent.ts",
    find: "    before.instance === instance\n",
    replace: "    before.instance !== instance\n",
    seenBy: attachAgent(
      "an agent that attaches again > from another process is told apart from one whose line was cut",
    ),
  },
  {
    name: "a late hello replaces a newer connection",
    file: "src/routing/attach-agent.ts",
    find: "(before?.helloAt ?? 0) > helloAt",
    replace: "(before?.helloAt ?? 0) > helloAt + 5_000",
    seenBy: attachAgent(
      "an agent that attaches again > is not pushed out by a hello that it said before",
    ),
  },
  {
    name: "credit is unlimited",
    file: "src/routing/attach-agent.ts",
    find: " || credit > CREDIT_AT_MOST",
    replace: "",
    seenBy: attachAgent("an agent has the room that it names, up to a bound"),
  },
  {
    name: "a negative credit is accepted",
    file: "src/routing/attach-agent.ts",
    find: " || credit < 0",
    replace: "",
    seenBy: attachAgent("an agent has the room that it names, up to a bound"),
  },
  {
    name: "one attempt over the credit is offered",
    file: "src/routing/agent-session.ts",
    find: "return Math.max(0, this.#credit - this.#held.size);",
    replace: "return Math.max(0, this.#credit + 1 - this.#held.size);",
    seenBy: attachAgent("an agent has the room that it names, up to a bound"),
  },
];

const REGISTRY: readonly Mutant[] = [
  {
    name: "a manifest is not loaded after a failed commit",
    file: "src/registry/registry.ts",
    find: "}).finally(() => this.forget(agent));",
    replace: "});\n      this.forget(agent);",
    seenBy: registry(
      "a manifest whose commit is on disk is seen here, although the commit was reported as failed",
    ),
  },
  {
    name: "a late read overwrites newer measurements",
    file: "src/registry/measured.ts",
    find: "    if (meanwhile !== undefined) return meanwhile;\n",
    replace: "",
    seenBy: measured("a read that ends late does not overwrite what was measured in the meantime"),
  },
  {
    name: "only one of two simultaneous outcomes is counted",
    file: "src/registry/measured.ts",
    find: "const before = this.#stats.get(name) ?? first;",
    replace: "const before = first;",
    seenBy: measured("two outcomes at once are both counted, and saved a moment later"),
  },
  {
    name: "measurements are never saved",
    file: "src/registry/measured.ts",
    find: "    this.#settings.set(name, JSON.stringify(after));\n",
    replace: "",
    seenBy: measured("two outcomes at once are both counted, and saved a moment later"),
  },
];

/** Faults in the hub. */
export const HUB: readonly Mutant[] = [
  ...CUSTODY,
  ...ENGINE,
  ...ROUTING,
  ...REGISTRY,
  ...DECISIONS,
];
