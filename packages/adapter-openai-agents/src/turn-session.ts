import type { AgentInputItem, Session } from "@openai/agents";

/** A session of the SDK during one turn. */
export interface TurnSession {
  /** For the runner: the stored items, and those that this turn has added. */
  readonly session: Session;
  /** Stores what this turn has added. */
  store(): Promise<void>;
}

/**
 * Holds back what a turn adds to a session until the turn is over. If an attempt fails, or is
 * killed during its run, the session is unchanged, and the next attempt does not find the turn in
 * it.
 */
export function turnIn(stored: Session): TurnSession {
  let added: AgentInputItem[] = [];
  let isReplaced = false;
  const own: Partial<Session> = {
    async getItems(limit) {
      const all = [...(isReplaced ? [] : await stored.getItems()), ...added];
      return limit === undefined ? all : all.slice(Math.max(0, all.length - limit));
    },
    async addItems(items) {
      added.push(...items);
    },
    async popItem() {
      // Earlier items are removed only when the turn is over.
      if (added.length === 0 && !isReplaced) {
        added = await stored.getItems();
        isReplaced = true;
      }
      return added.pop();
    },
    async clearSession() {
      added = [];
      isReplaced = true;
    },
    async replaceHistoryWithCompaction(items) {
      added = [...items];
      isReplaced = true;
    },
  };
  const session = new Proxy(stored, {
    get(target, name) {
      const mine = own[name as keyof Session];
      if (mine !== undefined && (name !== "replaceHistoryWithCompaction" || name in target)) {
        return mine;
      }
      const theirs: unknown = Reflect.get(target, name, target);
      return typeof theirs === "function" ? (theirs.bind(target) as unknown) : theirs;
    },
  });
  return {
    session,
    async store() {
      if (isReplaced) await stored.clearSession();
      if (added.length > 0) await stored.addItems(added);
      added = [];
      isReplaced = false;
    },
  };
}
