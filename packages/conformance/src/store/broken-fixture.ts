import { digestOf } from "@waybill/protocol";
import type {
  Commit,
  CommitListener,
  CommitOutcome,
  OfferPlace,
  Page,
  SettingChange,
  Store,
  StoredHandoff,
  WaitingPlace,
} from "@waybill/hub/store";
import { openMemorySubject, twoLayeredDisk } from "./memory-fixture.ts";
import { AT, idOf } from "./sample.ts";
import type { DurableStoreSubject } from "./subject.ts";
import { commitEach, commitOne } from "@waybill/hub/store";

/** Functions of a store to be replaced. `commit` makes one commit, `commitGroup` a group. */
interface Faults extends Partial<Omit<Store, "commit">> {
  commit?(commit: Commit): Promise<CommitOutcome>;
  readonly commitGroup?: Store["commit"];
}

/** A fault of a store, given a correct one. */
type Fault = (store: Store) => Faults;

/** The correct store with some of its functions replaced. */
function with_(store: Store, { commit, commitGroup, ...faults }: Faults): Store {
  const eachByItself = commit && ((group: readonly Commit[]) => commitEach(group, commit));
  const replaced: Partial<Store> = { ...faults };
  const committing = commitGroup ?? eachByItself;
  if (committing !== undefined) replaced.commit = committing;
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const member = replaced[name] ?? target[name];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** A subject whose store has a fault from its first opening on. */
function faulty(fault: Fault): () => Promise<DurableStoreSubject> {
  return async () => {
    const subject = await openMemorySubject();
    return {
      ...subject,
      store: with_(subject.store, fault(subject.store)),
      reopen: async () => {
        const store = await subject.reopen();
        return with_(store, fault(store));
      },
    };
  };
}

/** A fault in the answer to a commit, as its caller sees it. */
function answering(
  change: (
    outcome: CommitOutcome,
    commit: Commit,
    seen: Seen,
  ) => CommitOutcome | Promise<CommitOutcome>,
): () => Promise<DurableStoreSubject> {
  return faulty((store) => {
    const inFlight: Commit[] = [];
    return {
      commitGroup: (group) =>
        commitEach(group, async (commit) => {
          const rivals = [...inFlight];
          inFlight.push(commit);
          const outcome = await commitOne(store, commit);
          inFlight.splice(inFlight.indexOf(commit), 1);
          const isAlone = group.length === 1 && rivals.length === 0 && inFlight.length === 0;
          return change(outcome, commit, { store, rivals, isAlone });
        }),
    };
  });
}

interface Seen {
  readonly store: Store;
  /** The commits that were under way when this one came. */
  readonly rivals: readonly Commit[];
  readonly isAlone: boolean;
}

const isDependent = ({ dependsOn }: Commit): boolean => dependsOn !== undefined;

/** Makes every dependency that of a commit which is not there. */
const neverMade = ({ dependsOn }: Commit): Partial<Commit> =>
  dependsOn === undefined ? {} : { dependsOn: [Infinity] };

const MADE: CommitOutcome = { type: "committed", lastSequence: 0 };

type Listing = "inbox" | "correlated" | "children";

const backwards = (name: Listing) =>
  faulty((store) => ({
    [name]: async (of: string, page: Page<string>) => (await store[name](of, page)).toReversed(),
  }));

/** Lists handoffs under a name that they have left. */
/** Lists everything that ever waited for a target. */
const unforgetting = () =>
  faulty((store) => {
    const once = new Map<string, Map<string, StoredHandoff>>();
    return {
      commit(commit) {
        const { handoff } = commit;
        if (handoff?.waitsFor != null) {
          const known = once.get(handoff.waitsFor) ?? new Map<string, StoredHandoff>();
          once.set(handoff.waitsFor, known.set(handoff.id, handoff));
        }
        return commitOne(store, commit);
      },
      async waiting(of, { after, limit }) {
        const listed = await store.waiting(of, { limit: 1_000 });
        const places = new Map([
          ...(once.get(of) ?? []),
          ...listed.map((each) => [each.id, each] as const),
        ]);
        const isAfter = (a: WaitingPlace, b: WaitingPlace) =>
          a.waitsAt > b.waitsAt || (a.waitsAt === b.waitsAt && a.id > b.id);
        const page = [...places.values()]
          .toSorted((a, b) => (isAfter(a, b) ? 1 : -1))
          .filter((each) => after === undefined || isAfter(each, after))
          .slice(0, limit);
        return Promise.all(page.map(async ({ id }) => (await store.handoff(id))!));
      },
    };
  });

const clinging = (name: Listing, namesOf: (handoff: StoredHandoff) => readonly string[]) =>
  faulty((store) => {
    const once = new Map<string, Set<string>>();
    return {
      commit(commit) {
        for (const each of commit.handoff === null ? [] : namesOf(commit.handoff)) {
          once.set(each, (once.get(each) ?? new Set()).add(commit.handoff!.id));
        }
        return commitOne(store, commit);
      },
      async [name](of: string, { after = "", limit }: Page<string>) {
        const listed = await store[name](of, { after, limit });
        const ids = new Set([...listed.map(({ id }) => id), ...(once.get(of) ?? [])]);
        const page = [...ids]
          .filter((id) => id > after)
          .toSorted()
          .slice(0, limit);
        return Promise.all(page.map(async (id) => (await store.handoff(id))!));
      },
    };
  });

/** For each case the store that breaks it, and no other case. */
export const BROKEN_STORES: Readonly<Record<string, () => Promise<DurableStoreSubject>>> = {
  "a handoff is read back as it was written": faulty((store) => ({
    async handoff(id) {
      const handoff = await store.handoff(id);
      return handoff && { ...handoff, isDeadLetter: false };
    },
  })),
  "a later version takes the place of the one before": faulty((store) => ({
    async handoff(id) {
      const handoff = await store.handoff(id);
      return handoff && { ...handoff, state: handoff.version > 1 ? "open" : handoff.state };
    },
  })),
  "what is not there is undefined": faulty((store) => ({
    handoff: async (id) => (await store.handoff(id)) ?? (null as never),
  })),
  "a version that is there already is a conflict": answering(async (outcome, { handoff }, seen) => {
    if (outcome.type !== "conflict" || handoff === null || !seen.isAlone) return outcome;
    const there = (await seen.store.handoff(handoff.id))?.version;
    return there === handoff.version && there > 1 ? MADE : outcome;
  }),
  "a version that is ahead is a conflict": answering(async (outcome, { handoff }, { store }) => {
    if (outcome.type !== "conflict" || handoff === null) return outcome;
    const there = (await store.handoff(handoff.id))?.version ?? 0;
    return handoff.version > there + 1 ? MADE : outcome;
  }),
  "of writers that race for a version exactly one wins": answering((outcome, commit, seen) => {
    const { id, version } = commit.handoff ?? {};
    const isRace = seen.rivals.some(
      ({ handoff }) => handoff?.id === id && handoff?.version === version,
    );
    return outcome.type === "conflict" && id !== undefined && isRace ? MADE : outcome;
  }),
  "an envelope that was committed before is a replay, with its earlier digest": answering(
    (outcome, { entries }, { isAlone }) =>
      outcome.type === "replayed" && isAlone ? { ...outcome, digest: entries[0]!.digest } : outcome,
  ),
  "one id of two senders is two envelopes": faulty((store) => {
    const senders = new Map<string, string>();
    return {
      commit(commit) {
        for (const { replayKey, digest } of commit.entries) {
          if (replayKey === null) continue;
          const { from, id } = replayKey;
          if ((senders.get(id) ?? from) !== from)
            return Promise.resolve({ type: "replayed", digest });
          senders.set(id, from);
        }
        return commitOne(store, commit);
      },
    };
  }),
  "of envelopes that come at the same time under one id exactly one is taken": answering(
    (outcome, { entries }, { rivals }) => {
      const id = entries[0]?.replayKey?.id;
      const isRace = rivals.some((rival) => rival.entries[0]?.replayKey?.id === id);
      return outcome.type === "replayed" && isRace ? MADE : outcome;
    },
  ),
  "ids of committed envelopes are known, and no others": faulty((store) => ({
    seen: async (_from, id) => store.seen("editor", id),
  })),
  "a conflict leaves no entry and no manifest behind": answering(
    async (outcome, { entries }, { store }) => {
      const decisions = entries.filter(({ type }) => type === "decision");
      if (outcome.type === "conflict" && decisions.length > 0) {
        await commitOne(store, { handoff: null, entries: decisions });
      }
      return outcome;
    },
  ),
  "a replay leaves no handoff, no manifest and none of its other entries behind": answering(
    async (outcome, { handoff, manifest }, { store }) => {
      if (outcome.type === "replayed" && manifest !== undefined) {
        await commitOne(store, { handoff, entries: [] });
      }
      return outcome;
    },
  ),
  "a manifest out of sequence leaves no handoff and no entry behind": answering(
    async (outcome, { handoff, manifest, entries }, { store }) => {
      if (outcome.type === "conflict" && manifest !== undefined) {
        if (handoff !== null) await commitOne(store, { handoff, entries });
      }
      return outcome;
    },
  ),
  "listeners are notified of every commit that was made, and of no other": faulty((store) => ({
    onCommit: (listener) =>
      store.onCommit((handoff, publisher) => {
        if (handoff !== null || publisher !== null) listener(handoff, publisher);
      }),
  })),
  "a listener is told whose manifest was in a commit": faulty((store) => ({
    onCommit: (listener) => store.onCommit((handoff) => listener(handoff, null)),
  })),
  "a listener that reads sees the commit it was notified of": faulty((store) => {
    const listeners: CommitListener[] = [];
    const told = new Set<StoredHandoff>();
    return {
      onCommit(listener) {
        // Two of them would show in the case about who is notified at all.
        if (listeners.push(listener) > 1) listeners.length = 0;
        return store.onCommit((handoff, publisher) => {
          if (!told.has(handoff!)) listener(handoff, publisher);
        });
      },
      commit(commit) {
        const { handoff } = commit;
        for (const listener of handoff === null ? [] : listeners) {
          told.add(handoff!);
          listener(handoff, commit.manifest?.agent ?? null);
        }
        return commitOne(store, commit);
      },
    };
  }),
  "commits of a group that change one handoff are made in their order": faulty((store) => ({
    async commitGroup(group) {
      const ids = new Set(group.map(({ handoff }) => handoff?.id));
      const isOrdered = ids.has(undefined) || ids.size === group.length;
      if (isOrdered) return store.commit(group);
      return (await store.commit(group.toReversed())).toReversed();
    },
  })),
  "a conflict in a group changes nothing about the others": faulty((store) => ({
    async commitGroup(group) {
      if (group.some(isDependent)) return store.commit(group);
      const outcomes: CommitOutcome[] = [];
      for (const each of group) {
        const isLost = outcomes.at(-1)?.type === "conflict" && each.entries.length > 0;
        outcomes.push(isLost ? { type: "conflict" } : await commitOne(store, each));
      }
      return outcomes;
    },
  })),
  "a replay in a group changes nothing about the others": faulty((store) => ({
    async commitGroup(group) {
      if (group.some(isDependent)) return store.commit(group);
      for (const { replayKey } of group.length < 2 ? [] : group.flatMap(({ entries }) => entries)) {
        const seen = replayKey && (await store.seen(replayKey.from, replayKey.id));
        if (seen) return group.map(() => ({ type: "replayed", digest: seen.digest }));
      }
      return store.commit(group);
    },
  })),
  "an envelope that occurs twice in a group is taken once, the first time": faulty((store) => ({
    commitGroup(group) {
      const taken = new Set<string>();
      return store.commit(
        group.map((each) => {
          const entries = each.entries.filter(({ replayKey }) => !taken.has(replayKey?.id ?? ""));
          for (const { replayKey } of entries) if (replayKey !== null) taken.add(replayKey.id);
          return { ...each, entries };
        }),
      );
    },
  })),
  "a commit sees the settings that an earlier one of its group has changed": faulty((store) => ({
    async commitGroup(group) {
      const names = group.flatMap(({ settings = [] }) => settings.map(({ name }) => name));
      const before = new Map<string, string | undefined>();
      for (const name of names) before.set(name, await store.setting(name));
      return commitEach(group, async (each) => {
        const isAsBefore = ({ name, from }: SettingChange) => (before.get(name) ?? null) === from;
        const isFit = each.settings?.every(isAsBefore) !== false;
        return isFit ? commitOne(store, each) : { type: "conflict" };
      });
    },
  })),
  "a commit that depends on others of its group is made if they are": faulty((store) => ({
    commitGroup: (group) => store.commit(group.map((each) => ({ ...each, ...neverMade(each) }))),
  })),
  "a commit that depends on one that was not made is a conflict": faulty((store) => ({
    commitGroup: (group) => store.commit(group.map(({ dependsOn: _dependsOn, ...alone }) => alone)),
  })),
  "an empty group has no outcomes, and writes nothing": faulty((store) => ({
    commitGroup: async (group) => (group.length === 0 ? [MADE] : store.commit(group)),
  })),
  "listeners are notified of each commit of a group that was made, in order": faulty((store) => {
    const later = new Set<StoredHandoff | null>();
    return {
      onCommit: (listener) =>
        store.onCommit((handoff, publisher) => {
          if (!later.has(handoff)) listener(handoff, publisher);
        }),
      commitGroup(group) {
        for (const { handoff } of group.slice(1)) later.add(handoff);
        return store.commit(group);
      },
    };
  }),
  "all of an acknowledged group is visible to others at once": faulty((store) => ({
    async commitGroup(group) {
      if (group.length < 6) return store.commit(group);
      const outcomes = await store.commit(group.slice(0, 5));
      void store.commit(group.slice(5));
      return [...outcomes, ...group.slice(5).map(() => MADE)];
    },
  })),
  "a setting is the value that was saved last": faulty((store) => ({
    async saveSetting(name, value) {
      const before = (await store.setting(name)) ?? "";
      await store.saveSetting(name, value + before.slice(value.length));
    },
  })),

  "a commit changes its settings, and removes those without a value": faulty((store) => ({
    async setting(name) {
      return (await store.setting(name)) ?? (name === "other" ? "1" : undefined);
    },
  })),
  "a commit whose settings are not as it expects is a conflict, and changes nothing": answering(
    (outcome, { settings }, { isAlone }) =>
      settings !== undefined && isAlone && outcome.type === "conflict" ? MADE : outcome,
  ),
  "of concurrent commits that consume one setting exactly one succeeds": answering(
    (outcome, { settings }, { rivals }) =>
      settings !== undefined && rivals.length > 0 && outcome.type === "conflict" ? MADE : outcome,
  ),
  "settings are listed by name prefix, in pages": faulty((store) => ({
    settings: (prefix, page) => store.settings(prefix.trim(), page),
  })),

  "an empty ledger has the head that every chain begins with": faulty((store) => ({
    async ledgerHead() {
      const head = await store.ledgerHead();
      return head.sequence === 0 ? { sequence: 0, hash: digestOf("") } : head;
    },
  })),
  "every entry of a commit is in the ledger, in order and to the letter": faulty((store) => ({
    commit: (commit) => commitOne(store, { ...commit, entries: commit.entries.slice(0, 4) }),
  })),
  "entries are chained without a gap": async () => {
    const subject = await openMemorySubject();
    return {
      ...subject,
      async observe() {
        const { handoffs, entries } = await subject.observe();
        const hash = digestOf("");
        return {
          handoffs,
          entries: entries.map((each) => (each.at === AT ? each : { ...each, hash })),
        };
      },
    };
  },
  "the head is the last entry": faulty((store) => ({
    async ledgerHead() {
      const head = await store.ledgerHead();
      if (head.sequence < 2) return head;
      const [before] = await store.ledger({ after: head.sequence - 2, limit: 1 });
      return { sequence: before!.sequence, hash: before!.hash };
    },
  })),
  "a commit is told the sequence of its last entry": answering((outcome, { entries }) =>
    outcome.type === "committed"
      ? { ...outcome, lastSequence: outcome.lastSequence - entries.length + 1 }
      : outcome,
  ),
  "the ledger is read in pages": faulty((store) => ({
    ledger: ({ after = 1, limit, characters }) =>
      store.ledger({ after: characters === undefined ? after - 1 : after, limit, characters }),
  })),
  "the entries about one handoff are read in pages": faulty((store) => ({
    ledgerOf: (id, { characters, after }) =>
      store.ledgerOf(id, { after, limit: characters === undefined ? 1000 : 2, characters }),
  })),
  "a page of the ledger ends with the text that reaches its characters": faulty((store) => ({
    ledger: ({ after, limit }) => store.ledger({ after, limit }),
  })),
  "a page of the entries about one handoff ends with the text that reaches its characters": faulty(
    (store) => ({
      ledgerOf: (id, { after, limit }) => store.ledgerOf(id, { after, limit }),
    }),
  ),
  "an envelope about a handoff is found by its digest": faulty((store) => ({
    envelope: (_id, digest) => store.envelope(idOf(1), digest),
  })),

  "due handoffs are listed earliest first, and by id at the same time": faulty((store) => ({
    due: async (now, limit) =>
      (await store.due(now, limit)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  })),
  "handoffs are due at or before now, and the limit holds": faulty((store) => ({
    due: (now, limit) => store.due(now - 1, limit),
  })),
  "a handoff whose due time was changed or removed is not due at the old one": faulty((store) => {
    const times = new Map<string, number>();
    return {
      commit(commit) {
        const { id, wakeAt, version } = commit.handoff ?? {};
        if (version === 1 && wakeAt != null) times.set(id!, wakeAt);
        return commitOne(store, commit);
      },
      async due(now, limit) {
        const due = await store.due(now, limit);
        const late = [...times].filter(([, time]) => time <= now);
        const rows = await Promise.all(late.map(async ([id]) => (await store.handoff(id))!));
        return [...due, ...rows.filter(({ wakeAt }) => wakeAt === null)];
      },
    };
  }),
  "the next time to wake is the earliest of all": faulty((store) => {
    let earliest = Infinity;
    return {
      async nextWakeAt() {
        earliest = Math.min(earliest, (await store.nextWakeAt()) ?? Infinity);
        return earliest === Infinity ? null : earliest;
      },
    };
  }),
  "handoffs that wait for a target are listed by place, then by id": faulty((store) => ({
    waiting: async (target, page) => {
      const found = await store.waiting(target, page);
      return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
  })),
  "a handoff that waits no more, or for another target, is not listed": unforgetting(),
  "an inbox is listed by id, for each agent that a handoff stands with": backwards("inbox"),
  "handoffs that left an inbox do not displace others": clinging("inbox", ({ inboxes }) => inboxes),
  "the handoffs of a job are listed by id": backwards("correlated"),
  "the children of a handoff are listed by id": backwards("children"),
  "the members of a group are listed by id": faulty((store) => ({
    group: async (delegator, groupId, page) =>
      groupId === "odd"
        ? (await store.group(delegator, groupId, page)).toReversed()
        : store.group(delegator, groupId, page),
  })),
  "the handoffs of a session are listed, the newest first": faulty((store) => ({
    session: async (name, limit) => (await store.session(name, 10)).toReversed().slice(0, limit),
  })),
  "a handoff that left a session is not listed with it": faulty((store) => {
    const once = new Map<string, string[]>();
    return {
      commit(commit) {
        const { id, session = null } = commit.handoff ?? {};
        if (session !== null) once.set(session, [...(once.get(session) ?? []), id!]);
        return commitOne(store, commit);
      },
      async session(name, limit) {
        if (name !== "all") return store.session(name, limit);
        const ids = [...new Set(once.get(name))].slice(0, limit);
        return Promise.all(ids.map(async (id) => (await store.handoff(id))!));
      },
    };
  }),
  "a group of another delegator is another group": faulty((store) => ({
    async group(_delegator, groupId, page) {
      const groups = ["editor", "researcher"].map((each) => store.group(each, groupId, page));
      const members = (await Promise.all(groups)).flat();
      return members.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, page.limit);
    },
  })),
  "dead letters are listed by id": faulty((store) => ({
    deadLetters: async (page, delegator) => {
      const letters = await store.deadLetters(page, delegator);
      return delegator === undefined ? letters.toReversed() : letters;
    },
  })),
  "the dead letters of one delegator are listed by id": faulty((store) => ({
    deadLetters: (page) => store.deadLetters(page),
  })),
  "a dead letter that was handled is not listed": faulty((store) => ({
    commit: ({ handoff, ...rest }) =>
      commitOne(store, {
        ...rest,
        handoff: handoff && {
          ...handoff,
          isDeadLetter: handoff.isDeadLetter || handoff.state === "dead_lettered",
        },
      }),
  })),

  "the newest manifest of an agent is read back as it was written": faulty((store) => ({
    async manifest(agent) {
      const manifest = await store.manifest(agent);
      return manifest && { ...manifest, text: "{}" };
    },
  })),
  "every manifest of an agent is kept, by sequence": faulty((store) => ({
    manifests: async (agent, page) =>
      (await store.manifests(agent, page)).toSorted((a, b) =>
        `${a.sequence}` < `${b.sequence}` ? -1 : 1,
      ),
  })),
  "a page of manifests ends with the text that reaches its characters": faulty((store) => ({
    manifests: (agent, { after, limit }) => store.manifests(agent, { after, limit }),
  })),
  "a manifest that is not the next of its agent is a conflict": answering(
    async (outcome, { manifest }, { store }) => {
      if (outcome.type !== "conflict" || manifest === undefined) return outcome;
      const newest = await store.manifest(manifest.agent);
      return (newest?.sequence ?? 0) > manifest.sequence ? MADE : outcome;
    },
  ),
  "of manifests that race for a sequence exactly one wins": answering(
    (outcome, { manifest }, { rivals }) => {
      const isRace = rivals.some((rival) => rival.manifest?.agent === manifest?.agent);
      return outcome.type === "conflict" && manifest !== undefined && isRace ? MADE : outcome;
    },
  ),
  "agents are listed by id, each with its newest manifest and without its text": faulty(
    (store) => ({
      agents: async (page) =>
        Promise.all(
          (await store.agents(page)).map(async ({ agent }) => (await store.manifest(agent))!),
        ),
    }),
  ),
  "a key is read back as it was written last": faulty((store) => ({
    async key(kid) {
      const key = await store.key(kid);
      return key && (key.record === "retired" ? { ...key, record: "first" } : key);
    },
  })),
  "a manifest with a key of another agent is refused, and leaves nothing behind": answering(
    async (outcome, { handoff, entries }, { store }) => {
      if (outcome.type === "key_owned" && handoff !== null) {
        await commitOne(store, { handoff, entries });
      }
      return outcome;
    },
  ),
  "a key stays with its agent when a later manifest does not name it": faulty((store) => {
    const named = new Map<string, ReadonlySet<string>>();
    return {
      async commit(commit) {
        const outcome = await commitOne(store, commit);
        const { agent = "", keys = [] } = commit.manifest ?? {};
        if (outcome.type === "committed") named.set(agent, new Set(keys.map(({ kid }) => kid)));
        if (outcome.type !== "key_owned") return outcome;
        return named.get(outcome.agent)?.has(outcome.kid) === true ? outcome : MADE;
      },
    };
  }),
  "a commit changes keys and facts without a manifest": faulty((store) => ({
    // The facts stay as they were.
    async commit({ keys, ...commit }) {
      const newest = keys && (await store.manifest(keys.agent));
      if (newest?.sequence !== keys?.sequence)
        return commitOne(store, { ...commit, ...(keys && { keys }) });
      return commitOne(store, {
        ...commit,
        ...(keys && { keys: { ...keys, facts: newest!.facts } }),
      });
    },
  })),
  "an agent can be withdrawn without a manifest, until it publishes the next one": faulty(
    (store) => ({
      commit: ({ keys, ...commit }) =>
        commitOne(store, { ...commit, ...(keys && { keys: { ...keys, isWithdrawn: false } }) }),
    }),
  ),
  "a change of keys that does not fit is refused, and changes nothing": faulty((store) => ({
    async commit(commit) {
      const { keys } = commit;
      const newest = keys && (await store.manifest(keys.agent));
      if (keys === undefined || newest === undefined) return commitOne(store, commit);
      return commitOne(store, { ...commit, keys: { ...keys, sequence: newest.sequence } });
    },
  })),
  "of manifests that race for a key exactly one wins": answering((outcome, _commit, { rivals }) =>
    outcome.type === "key_owned" && rivals.length > 0 ? MADE : outcome,
  ),
  "offers are listed by name, agent and version": faulty((store) => ({
    offers: async (by, page) => {
      const found = await store.offers(by, page);
      return by.audience === undefined ? found.toReversed() : found;
    },
  })),
  "an offer tells of its capability and of the newest manifest": faulty((store) => ({
    offers: async (by, page) =>
      (await store.offers(by, page)).map((offer) => ({ ...offer, sequence: 1 })),
  })),
  "offers are listed under their audiences": faulty((store) => ({
    offers: ({ audience, ...by }, page) =>
      store.offers(audience?.startsWith("agent ") === true ? by : { ...by, audience }, page),
  })),
  "names are listed for an audience with the number of agents that offer them to it": faulty(
    (store) => ({
      capabilityNames: (page, audience) =>
        store.capabilityNames(page, audience?.startsWith("group ") === true ? "*" : audience),
    }),
  ),
  "withdrawn offers are not listed": faulty((store) => {
    const once = new Set<string>();
    return {
      commit(commit) {
        const { agent, capabilities = [] } = commit.manifest ?? {};
        for (const { name, version } of capabilities) once.add(`${name} ${agent} ${version}`);
        return commitOne(store, commit);
      },
      async capability(place) {
        const there = await store.capability(place);
        const { name, agent, version }: OfferPlace = place;
        if (there !== undefined || !once.has(`${name} ${agent} ${version}`)) return there;
        return { text: "{}", sequence: 1 };
      },
    };
  }),
  "a capability is read back as it was written, with the number of its manifest": faulty(
    (store) => ({
      async capability(place) {
        const there = await store.capability(place);
        return there && { ...there, text: there.text.trim() };
      },
    }),
  ),
  "names are listed with the number of agents that offer them": faulty((store) => ({
    capabilityNames: async (page, audience) => {
      const names = await store.capabilityNames(page, audience);
      if (audience !== undefined) return names;
      return Promise.all(
        names.map(async ({ name }) => ({
          name,
          agents: (await store.offers({ name }, { limit: 100 })).length,
        })),
      );
    },
  })),

  "every text of Unicode comes back as it was": faulty((store) => ({
    commit: ({ handoff, ...rest }) =>
      commitOne(store, { ...rest, handoff: handoff && normalized(handoff) }),
  })),
  "a record and an envelope of a mebibyte come back as they were": faulty((store) => ({
    ledger: async (page) =>
      (await store.ledger(page)).map((entry) => ({
        ...entry,
        content: entry.content.slice(0, 1024 * 1024),
      })),
  })),
  "thousands of commits at the same time all happen": faulty((store) => {
    let inFlight = 0;
    return {
      async commit(commit) {
        if (inFlight >= 1000) return MADE;
        inFlight++;
        const outcome = await commitOne(store, commit);
        inFlight--;
        return outcome;
      },
    };
  }),

  "an acknowledged commit is visible to others at once": async () => {
    const disk = twoLayeredDisk();
    let syncs = 0;
    const sync = () => (++syncs % 15 === 0 ? Promise.resolve() : disk.sync());
    return openMemorySubject({ ...disk, sync });
  },
  "a closed store refuses commits": faulty((store) => ({
    handoff: (id) => store.handoff(id).catch(() => undefined),
  })),
  "closing waits for the commits that are under way": faulty((store) => {
    const closing = new AbortController();
    return {
      commit: (commit) =>
        Promise.race([
          commitOne(store, commit),
          new Promise<never>((_, reject) => {
            const { signal } = closing;
            signal.addEventListener("abort", () => reject(signal.reason as Error));
          }),
        ]),
      close() {
        closing.abort();
        return store.close();
      },
    };
  }),

  "after closing and opening every answer is the same": async () => {
    const subject = await openMemorySubject();
    return {
      ...subject,
      reopen: async () =>
        with_(await subject.reopen(), { nextWakeAt: () => Promise.resolve(null) }),
    };
  },
  "after reopening, the chain, the versions and the replay keys continue": async () => {
    const subject = await openMemorySubject();
    const forgetful: Fault = (store) => ({
      async commit(commit) {
        const outcome = await commitOne(store, commit);
        return outcome.type === "replayed" ? MADE : outcome;
      },
    });
    return {
      ...subject,
      async reopen() {
        const store = await subject.reopen();
        return with_(store, forgetful(store));
      },
    };
  },
};

function normalized(handoff: StoredHandoff): StoredHandoff {
  return { ...handoff, record: handoff.record.normalize("NFC") };
}

/**
 * Stores for a process that loses what it acknowledged, leaves a partial commit, or can't be opened
 * after a crash.
 */
export const BROKEN_PROCESSES: readonly (readonly [name: string, module: URL])[] = [
  [
    "a process that is killed while it writes loses nothing acknowledged and leaves no partial commit",
    new URL("./broken-buffer-fixture.ts", import.meta.url),
  ],
  [
    "a crash at any call that writes loses nothing acknowledged",
    new URL("./broken-creation-fixture.ts", import.meta.url),
  ],
  [
    "a crash at any call that writes loses nothing acknowledged",
    new URL("./broken-settings-fixture.ts", import.meta.url),
  ],
];
