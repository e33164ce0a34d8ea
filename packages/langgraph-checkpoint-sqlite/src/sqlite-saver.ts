/// <reference types="node" />
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { openDatabase } from "./schema.ts";

interface CheckpointRow {
  readonly thread: string;
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | null;
  readonly type: string;
  readonly value: Uint8Array;
  readonly metadata_type: string;
  readonly metadata: Uint8Array;
}

interface WriteRow {
  readonly task: string;
  readonly channel: string;
  readonly type: string;
  readonly value: Uint8Array;
}

/** From this version of the format on, checkpoints keep sends to nodes in a channel of their own. */
const SENDS_IN_CHANNEL = 4;

/**
 * Checkpoints of LangGraph in one SQLite file. When a promise has settled, its data is on disk.
 *
 * @example
 * ```ts
 * const checkpointer = new SqliteSaver("graph.db");
 * const graph = new StateGraph(State).addNode("ask", ask).addEdge(START, "ask").compile({ checkpointer });
 * ```
 */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;

  constructor(path: string, serde?: SerializerProtocol) {
    super(serde);
    this.#database = openDatabase(path);
    this.#statements = statementsOf(this.#database);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id: thread, checkpoint_ns: namespace = "" } = config.configurable ?? {};
    if (thread === undefined) return undefined;
    const id = getCheckpointId(config);
    const row = (
      id === ""
        ? this.#statements.newest.get(thread as string, namespace as string)
        : this.#statements.one.get(thread as string, namespace as string, id)
    ) as CheckpointRow | undefined;
    return row && this.#tupleOf(row);
  }

  override async *list(
    { configurable = {} }: RunnableConfig,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const wanted = {
      thread: textOr(configurable["thread_id"]),
      namespace: textOr(configurable["checkpoint_ns"]),
      id: textOr(configurable["checkpoint_id"]),
      before: textOr(before?.configurable?.["checkpoint_id"]),
    };
    let left = limit;
    // The reader of a list may write meanwhile, so only names are held, and one checkpoint at a time.
    for (const { thread, namespace, id } of this.#statements.names.all(wanted)) {
      if (left <= 0) return;
      const row = this.#statements.one.get(thread!, namespace!, id!) as CheckpointRow | undefined;
      if (row === undefined) continue;
      const metadata = await this.#metadataOf(row);
      if (!Object.entries(filter).every(([name, value]) => metadata[name] === value)) continue;
      left--;
      yield await this.#tupleOf(row);
    }
  }

  override async put(
    { configurable = {} }: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const thread = threadOf(configurable, "checkpoint");
    const namespace = textOr(configurable["checkpoint_ns"]) ?? "";
    const { id, channel_values: values } = checkpoint;
    const parent = textOr(configurable["checkpoint_id"]);
    const [bare, described, changed] = await Promise.all([
      this.serde.dumpsTyped({ ...copyCheckpoint(checkpoint), channel_values: {} }),
      this.serde.dumpsTyped(metadata),
      Promise.all(
        Object.entries(newVersions)
          .filter(([channel]) => Object.hasOwn(values, channel))
          .map(async ([channel, version]) => {
            const dumped = await this.serde.dumpsTyped(values[channel]);
            return [thread, namespace, channel, String(version), ...dumped] as const;
          }),
      ),
    ]);
    this.#atOnce(() => {
      // A checkpoint stores what has changed, and shares the rest with earlier ones.
      for (const row of changed) this.#statements.putChannel.run(...row);
      this.#statements.put.run(thread, namespace, id, parent, ...bare, ...described);
    });
    return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } };
  }

  override async putWrites(
    { configurable = {} }: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const thread = threadOf(configurable, "writes");
    const namespace = textOr(configurable["checkpoint_ns"]) ?? "";
    const checkpoint = textOr(configurable["checkpoint_id"]);
    if (checkpoint === null) {
      throw new Error(
        'Failed to put writes. The config is missing a required "checkpoint_id" in "configurable".',
      );
    }
    const rows = await Promise.all(
      writes.map(async ([channel, written], index) => {
        const [type, value] = await this.serde.dumpsTyped(written);
        const place = WRITES_IDX_MAP[channel] ?? index;
        return [thread, namespace, checkpoint, taskId, place, channel, type, value] as const;
      }),
    );
    this.#atOnce(() => {
      for (const row of rows) {
        // Writes of a task are kept; its errors and interrupts are replaced by the newest.
        const statement = row[4] < 0 ? this.#statements.replaceWrite : this.#statements.write;
        statement.run(...row);
      }
    });
  }

  override async deleteThread(threadId: string): Promise<void> {
    this.#atOnce(() => {
      this.#statements.deleteCheckpoints.run(threadId);
      this.#statements.deleteWrites.run(threadId);
      this.#statements.deleteChannels.run(threadId);
    });
  }

  /** Two branches of one thread write the same version of a channel: a fraction distinguishes them. */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random();
  }

  close(): void {
    this.#database.close();
  }

  async #tupleOf(row: CheckpointRow): Promise<CheckpointTuple> {
    const { thread, namespace, id, parent } = row;
    const writes = this.#statements.writes.all(thread, namespace, id) as unknown as WriteRow[];
    const configOf = (checkpointId: string): RunnableConfig => ({
      configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: checkpointId },
    });
    return {
      config: configOf(id),
      checkpoint: await this.#checkpointOf(row),
      metadata: await this.#metadataOf(row),
      pendingWrites: await Promise.all(
        writes.map(async (each): Promise<[string, string, unknown]> => {
          return [each.task, each.channel, await this.serde.loadsTyped(each.type, each.value)];
        }),
      ),
      ...(parent === null ? {} : { parentConfig: configOf(parent) }),
    };
  }

  async #checkpointOf(row: CheckpointRow): Promise<Checkpoint> {
    const { thread, namespace, parent, type, value } = row;
    const checkpoint = (await this.serde.loadsTyped(type, value)) as Checkpoint;
    const versions = Object.entries(checkpoint.channel_versions);
    const values = await Promise.all(
      versions.map(async ([channel, version]) => {
        const found = this.#statements.channel.get(thread, namespace, channel, String(version));
        const { type: kind, value: stored } = (found ?? {}) as Partial<WriteRow>;
        return kind === undefined ? [] : [[channel, await this.serde.loadsTyped(kind, stored!)]];
      }),
    );
    checkpoint.channel_values = Object.fromEntries(values.flat()) as Record<string, unknown>;
    if (checkpoint.v < SENDS_IN_CHANNEL && parent !== null) {
      await this.#addSends(checkpoint, { ...row, id: parent });
    }
    return checkpoint;
  }

  /** Older checkpoints have their sends to nodes among the writes of the previous one. */
  async #addSends(checkpoint: Checkpoint, { thread, namespace, id }: CheckpointRow): Promise<void> {
    const writes = this.#statements.writes.all(thread, namespace, id) as unknown as WriteRow[];
    const sends = writes.filter(({ channel }) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = await Promise.all(
      sends.map(({ type, value }) => this.serde.loadsTyped(type, value)),
    );
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #metadataOf(
    row: CheckpointRow,
  ): Promise<CheckpointMetadata & Readonly<Record<string, unknown>>> {
    return (await this.serde.loadsTyped(row.metadata_type, row.metadata)) as CheckpointMetadata;
  }

  #atOnce(change: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      change();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;

const SQL = {
  one: "SELECT * FROM checkpoint WHERE thread = ? AND namespace = ? AND id = ?",
  newest: "SELECT * FROM checkpoint WHERE thread = ? AND namespace = ? ORDER BY id DESC LIMIT 1",
  names: `SELECT thread, namespace, id FROM checkpoint
    WHERE ($thread IS NULL OR thread = $thread) AND ($namespace IS NULL OR namespace = $namespace)
      AND ($id IS NULL OR id = $id) AND ($before IS NULL OR id < $before)
    ORDER BY id DESC`,
  put: "INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  putChannel: "INSERT OR REPLACE INTO channel VALUES (?, ?, ?, ?, ?, ?)",
  channel: `SELECT type, value FROM channel
    WHERE thread = ? AND namespace = ? AND channel = ? AND version = ?`,
  writes: `SELECT task, channel, type, value FROM write
    WHERE thread = ? AND namespace = ? AND checkpoint = ? ORDER BY task, place`,
  write: "INSERT OR IGNORE INTO write VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  replaceWrite: "INSERT OR REPLACE INTO write VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  deleteCheckpoints: "DELETE FROM checkpoint WHERE thread = ?",
  deleteChannels: "DELETE FROM channel WHERE thread = ?",
  deleteWrites: "DELETE FROM write WHERE thread = ?",
} as const;

function statementsOf(database: DatabaseSync): Statements {
  return Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]),
  ) as Statements;
}

function textOr(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function threadOf(configurable: Readonly<Record<string, unknown>>, what: string): string {
  const thread = configurable["thread_id"];
  if (typeof thread === "string") return thread;
  throw new Error(
    `Failed to put ${what}. The config is missing a required "thread_id" in "configurable": it names the thread that the graph is run in.`,
  );
}
