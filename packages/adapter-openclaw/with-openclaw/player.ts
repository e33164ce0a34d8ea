/// <reference types="node" />
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf, textOf, toolResultsOf, wordsOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Act, Played } from "@waybill/conformance";
import { seenByChat } from "@waybill/conformance/model";
import type { Json, Message } from "@waybill/protocol";
import type { ModelRequest, Reply, SaidCall, Turn } from "@waybill/scripted-model";

/** A question ends the model's turn, and the act is played again with the answer. */
class Asked extends Error {
  readonly call: SaidCall;

  constructor(id: string, question: string) {
    super("The model asks.");
    const options = [{ label: "Yes" }, { label: "No" }];
    const asked = { id: questionId(id), header: "Question", question, options };
    this.call = { name: "ask_user", arguments: { questions: [asked] } };
  }
}

/** Plays an act as the model of one agent of a gateway. */
export class Player {
  readonly #act: Act;
  readonly #workspace: string;
  /** What is still to be said in a session. */
  readonly #next = new Map<string, Reply[]>();

  constructor(act: Act, workspace: string) {
    this.#act = act;
    this.#workspace = workspace;
  }

  async reply(session: string, request: ModelRequest): Promise<Reply> {
    const next = this.#next.get(session)?.shift();
    if (next !== undefined) return next;
    const shown = new Pieces();
    const ended = this.#play(session, request, shown).finally(() => shown.end());
    if (!(await shown.began())) return ended;
    // What was shown is a turn of its own, which uses a tool, and the act's result is the next.
    const calls = ended.then((reply) => {
      this.#next.set(session, [reply]);
      return [{ name: "ls", arguments: { path: "." } }];
    });
    return { text: shown.all(), calls };
  }

  async #play(session: string, request: ModelRequest, shown: Pieces): Promise<Reply> {
    const work = shownOf(request);
    const answers = answersIn(work.messages!);
    try {
      const played = await this.#act({
        work,
        run: session.slice(session.lastIndexOf(":waybill-") + ":waybill-".length),
        traceparent: undefined,
        signal: request.signal,
        show: (message) => shown.add(message),
        async ask(id, text) {
          const answer = answers.get(questionId(id));
          if (answer === undefined) throw new Asked(id, text);
          return answer;
        },
      });
      return await this.#turnOf(played);
    } catch (thrown) {
      if (thrown instanceof Asked) return { calls: [thrown.call] };
      const { message, cause } = thrown as Error;
      const inner = cause instanceof Error ? { inner: cause.message } : {};
      const isPassing = (thrown as { retryable?: boolean }).retryable === true;
      return { status: isPassing ? 500 : 400, error: { message, ...inner } };
    }
  }

  async #turnOf({ output, messages = [], artifacts = [], usage }: Played): Promise<Turn> {
    for (const each of artifacts) await writeFile(join(this.#workspace, each.name), bytesOf(each));
    const words = output === undefined ? messages.map(textOf) : [wordsOf(output)];
    const files = artifacts.map(({ name }) => `MEDIA:${name}`);
    return { text: [...words, ...files].join("\n"), usage };
  }
}

function questionId(id: string): string {
  return id.toLowerCase().replace(/[^a-z0-9_]/g, "_");
}

/** What the model is shown of the work: OpenClaw's own instructions and remarks are left out. */
export function shownOf(request: ModelRequest): PortableWork {
  const { messages = [], ...others } = seenByChat(request);
  const shown = messages.flatMap((message): Message[] => {
    if (message.role === "system" || message.role === "developer") return [];
    const content = message.content.flatMap((part) => {
      if (part.type !== "text") return [part];
      const text = withoutRemarks(part.text as string);
      return text === "" ? [] : [{ ...part, text }];
    });
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return { ...others, messages: shown };
}

function withoutRemarks(text: string): string {
  return text
    .replace(/<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>[^]*?<<<END_OPENCLAW_INTERNAL_CONTEXT>>>/g, "")
    .replace(/\n*Runtime: agent=[^\n]*$/, "")
    .replace(/^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d \w+\] /, "");
}

function answersIn(messages: readonly Message[]): Map<string, Json> {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const answers = messages
    .slice(asked + 1)
    .flatMap(toolResultsOf)
    .flatMap(({ output }) => {
      const text = typeof output === "string" ? output : JSON.stringify(output);
      const at = text.indexOf('{\n  "status": "answered"');
      if (at === -1) return [];
      const told = JSON.parse(text.slice(at)) as { answers: { answers: Record<string, string[]> } };
      return Object.entries(told.answers.answers);
    });
  return new Map(answers.map(([id, [answer = ""]]) => [id, answer]));
}

/** What an act shows, until it ends. */
class Pieces {
  readonly #pieces: string[] = [];
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#changed.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#changed.resolve();
  }

  /** Whether anything was shown before the end. */
  async began(): Promise<boolean> {
    await this.#changed.promise;
    return this.#pieces.length > 0;
  }

  async *all(): AsyncGenerator<string> {
    for (;;) {
      while (this.#pieces.length > 0) yield this.#pieces.shift()!;
      if (this.#isEnded) return;
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
  }
}
