/// <reference types="node" />
import { createHash } from "node:crypto";
import type { Run } from "@waybill/agent/adapter";
import { isId, WaybillError } from "@waybill/protocol";
import { relayApproval } from "./approval.ts";
import type { ApprovalRecord } from "./approval.ts";
import { GatewayLost, GatewayRefusal } from "./gateway.ts";
import type { Gateway } from "./gateway.ts";
import { relayQuestions } from "./question.ts";
import type { QuestionRecord } from "./question.ts";
import { keysIn, textIn, turnState, usageOfTurn } from "./transcript.ts";
import type { TranscriptRow } from "./transcript.ts";

/** What an agent is told in one turn. */
export interface Told {
  readonly text: string;
  readonly images: readonly ToldImage[];
}

export interface ToldImage {
  readonly name: string;
  readonly media_type: string;
  readonly data: string;
}

/** The session of an OpenClaw agent in which one attempt takes its turns. */
export class Session {
  readonly key: string;
  readonly #gateway: Gateway;
  readonly #agentId: string;
  readonly #run: Run;
  #turns = 0;
  #failedBy = "";

  constructor(gateway: Gateway, agentId: string, run: Run, scope: string) {
    this.#gateway = gateway;
    this.#agentId = agentId;
    this.#run = run;
    this.key = `agent:${agentId}:${OURS}${nameOf(run.thread, scope)}`;
  }

  /** The turns of other handoffs, and this one's, as the gateway has written them down. */
  async transcript(): Promise<TranscriptRow[]> {
    const { messages } = await this.#patiently<{ messages: TranscriptRow[] }>("chat.history", {
      sessionKey: this.key,
      limit: HISTORY_ROWS,
    });
    return messages;
  }

  /** Whether these turns belong to other handoffs too. */
  hasOthers(rows: readonly TranscriptRow[]): boolean {
    return keysIn(rows).some((key) => isOurs(key) && !key.startsWith(this.#prefix));
  }

  /**
   * What an earlier attempt has left behind: its reply, which is found instead of asked for again; or
   * the turn that it had begun, so that this attempt continues it; or nothing.
   */
  async left(): Promise<{ readonly reply: string } | "begun" | undefined> {
    const rows = await this.transcript();
    const tasks = await this.#tasks();
    const running = tasks.find((task) => task.runId?.startsWith(this.#prefix) && isRunning(task));
    const key = running?.runId ?? keysIn(rows).findLast((each) => each.startsWith(this.#prefix));
    if (key === undefined) return undefined;
    if (running !== undefined) {
      try {
        return { reply: await this.#follow(key) };
      } catch (error) {
        if (this.#run.signal.aborted || error instanceof GatewayLost) throw error;
        // That was the earlier attempt's failure. This one has yet to try.
        return "begun";
      }
    }
    const turn = turnState(rows, key);
    if (turn.state === "finished") return { reply: await this.#whole(turn.rowId, turn.text) };
    await this.#abort({});
    return "begun";
  }

  /** One turn, under a key that is used once and never again. Gives what the agent replied. */
  async say({ text, images }: Told): Promise<string> {
    const { attempt, deadline } = this.#run;
    const key = `${this.#prefix}${attempt}-${++this.#turns}`;
    return this.#follow(key, () =>
      this.#gateway.request("agent", {
        message: text,
        sessionKey: this.key,
        agentId: this.#agentId,
        idempotencyKey: key,
        deliver: false,
        // A run whose adapter is gone ends by itself.
        timeout: Math.max(1, Math.ceil((deadline.getTime() - Date.now()) / 1000)),
        ...(images.length === 0 ? {} : { attachments: images.map(attachmentOf) }),
      }),
    );
  }

  /** Begins a turn, or joins one that has begun, and stays with it until its end. */
  async #follow(key: string, begin?: () => Promise<unknown>): Promise<string> {
    const gateway = this.#gateway;
    const { signal } = this.#run;
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => undefined);
    const { boot } = gateway;
    const stop = this.#listenTo(key, failed.reject);
    try {
      for (;;) {
        try {
          await begin?.();
          begin = undefined;
          const waiting = { runId: key, timeoutMs: WAIT_MS };
          const ended = gateway.request<Ended>("agent.wait", waiting, signal);
          const ending = await Promise.race([ended, failed.promise]);
          if (isOver(ending)) return await this.#replyOf(key, ending);
        } catch (error) {
          if (!(error instanceof GatewayLost)) throw error;
          begin = undefined;
        }
        const reply = await this.#found(key, boot);
        if (reply !== undefined) return reply;
      }
    } finally {
      stop();
      if (signal.aborted) await this.#abort({ runId: key });
    }
  }

  /**
   * Where a turn stands by what the gateway has on disk, after the connection was lost: its reply, or
   * undefined while it goes on. What another process of the gateway was doing is lost, unless it was
   * finished.
   */
  async #found(key: string, boot: string): Promise<string | undefined> {
    const rows = await this.transcript();
    const turn = turnState(rows, key);
    if (turn.state === "finished") {
      this.#count(rows, key);
      return this.#whole(turn.rowId, turn.text);
    }
    if (turn.state === "failed") throw new Error(turn.reason);
    const task = (await this.#tasks()).find(({ runId }) => runId === key);
    if (this.#gateway.boot === boot && task !== undefined && isRunning(task)) return undefined;
    // A gateway resumes by itself what its predecessor was doing. Then the next attempt would be the
    // second one at work.
    await this.#abort({});
    throw new WaybillError(
      501,
      "The OpenClaw gateway was restarted in the middle of the run, or has lost it. What the run had done by then is not known.",
    );
  }

  async #replyOf(key: string, { status, error, terminalReply }: Ended): Promise<string> {
    const rows = await this.transcript();
    this.#count(rows, key);
    if (terminalReply?.disposition === "empty") {
      throw new WaybillError(520, `The run ended without a reply: ${error ?? "it was silent"}`);
    }
    if (status !== "ok") {
      throw new WaybillError(500, error ?? "The run failed, and the gateway does not say why.", {
        retryable: PASSING.has(this.#failedBy),
      });
    }
    if (terminalReply?.text !== undefined) return terminalReply.text;
    const turn = turnState(rows, key);
    return turn.state === "finished" ? this.#whole(turn.rowId, turn.text) : "";
  }

  /** A history shortens long texts. */
  async #whole(messageId: string | undefined, text: string): Promise<string> {
    if (messageId === undefined || text.length < SHORTENED_FROM) return text;
    const { message } = await this.#patiently<{ message?: TranscriptRow }>("chat.message.get", {
      sessionKey: this.key,
      messageId,
    });
    return message === undefined ? text : textIn(message);
  }

  #count(rows: readonly TranscriptRow[], key: string): void {
    for (const each of usageOfTurn(rows, key)) this.#run.addUsage(each);
  }

  async #tasks(): Promise<readonly GatewayTask[]> {
    const { tasks } = await this.#patiently<{ tasks: readonly GatewayTask[] }>("tasks.list", {
      sessionKey: this.key,
    });
    return tasks;
  }

  /** Stops a run of this session, or whatever goes on in it. */
  async #abort(which: { readonly runId?: string }): Promise<void> {
    try {
      await this.#gateway.request(
        "sessions.abort",
        { key: this.key, ...which },
        AbortSignal.timeout(ABORT_WITHIN_MS),
      );
    } catch (error) {
      // It has nothing to stop, or it is gone.
      if (!(error instanceof GatewayRefusal || error instanceof GatewayLost)) throw error;
    }
  }

  /** Reads, as often as the connection breaks. */
  async #patiently<Result>(method: string, params: object): Promise<Result> {
    for (;;) {
      try {
        return await this.#gateway.request<Result>(method, params, this.#run.signal);
      } catch (error) {
        if (!(error instanceof GatewayLost)) throw error;
      }
    }
  }

  #listenTo(key: string, fail: (error: unknown) => void): () => void {
    const { delta, progress, ask } = this.#run;
    const relayed = new Set<string>();
    const once = (id: string, relay: () => Promise<void>): void => {
      if (relayed.has(id)) return;
      relayed.add(id);
      relay().catch((error: unknown) => {
        if (!(error instanceof GatewayLost)) fail(error);
      });
    };
    const relay = (record: QuestionRecord): void => {
      const isHere = record.runId === key && record.status === "pending";
      if (isHere) once(record.id, () => relayQuestions(this.#gateway, record, ask));
    };
    const approve = (record: ApprovalRecord): void => {
      const isHere = record.request.runId === key;
      if (isHere) once(record.id, () => relayApproval(this.#gateway, record, ask));
    };
    const stop = this.#gateway.listen((event, payload) => {
      if (event === "question.requested") return relay(payload as QuestionRecord);
      if (event === "exec.approval.requested") return approve(payload as ApprovalRecord);
      const { runId, stream, data } = payload as AgentEvent;
      if (event !== "agent" || runId !== key) return;
      if (stream === "assistant" && data.delta !== undefined) delta(data.delta);
      const reason = data.errorObservation?.failoverReason;
      if (stream === "lifecycle" && reason !== undefined) this.#failedBy = reason;
      const begins = stream === "item" && data.kind === "tool" && data.phase === "start";
      if (begins) progress({ message: data.title ?? data.name, data: { tool: data.name } });
    });
    // What was asked before anybody listened.
    this.#patiently<{ questions: readonly QuestionRecord[] }>("question.list", {})
      .then(({ questions }) => questions.forEach(relay))
      .catch(fail);
    this.#patiently<readonly ApprovalRecord[]>("exec.approval.list", {})
      .then((records) => records.forEach(approve))
      .catch(fail);
    return stop;
  }

  get #prefix(): string {
    return `${OURS}${this.#run.handoffId}-`;
  }
}

const OURS = "waybill-";

/** A handoff's id is a name as it is. The name of a session has characters with a meaning in keys. */
function nameOf(thread: string, scope: string): string {
  const name = createHash("sha256").update(`${scope}\n${thread}`).digest("hex").slice(0, 32);
  return isId(thread) ? thread : name;
}

function isOurs(key: string): boolean {
  return key.startsWith(OURS);
}

/** The largest page of a transcript that the gateway gives. */
const HISTORY_ROWS = 1000;
const SHORTENED_FROM = 4_000;
/** The classes of failures that pass. */
const PASSING: ReadonlySet<string> = new Set([
  "overloaded",
  "rate_limit",
  "server_error",
  "timeout",
]);
const WAIT_MS = 15_000;
const ABORT_WITHIN_MS = 5_000;

interface Ended {
  readonly status: "ok" | "error" | "timeout" | "pending";
  readonly endedAt?: number | undefined;
  readonly error?: string | undefined;
  readonly terminalReply?: { readonly disposition: string; readonly text?: string } | undefined;
}

/** A wait that is over says nothing about the run. */
function isOver({ status, endedAt }: Ended): boolean {
  return status === "ok" || status === "error" || (status === "timeout" && endedAt !== undefined);
}

interface GatewayTask {
  readonly runId?: string | undefined;
  readonly status: string;
}

function isRunning({ status }: GatewayTask): boolean {
  return status === "running" || status === "queued";
}

interface AgentEvent {
  readonly runId?: string | undefined;
  readonly stream?: string | undefined;
  readonly data: {
    readonly delta?: string | undefined;
    readonly kind?: string | undefined;
    readonly phase?: string | undefined;
    readonly name?: string | undefined;
    readonly title?: string | undefined;
    /** Tells the class of a model's failure. Its own words stay in the log of the gateway. */
    readonly errorObservation?: { readonly failoverReason?: string | undefined } | undefined;
  };
}

function attachmentOf({ name, media_type, data }: ToldImage): object {
  return { type: "image", mimeType: media_type, fileName: name, content: data };
}
