// The framework. It stands in for a real one, which would be a peer dependency: it knows nothing about
// Waybill, and has in small what a framework has: sessions, a stream, interrupts, tools, limits.

/** One line of what was said. */
export interface EchoLine {
  readonly speaker: string;
  readonly name?: string | undefined;
  readonly text: string;
  /** What the framework carries along with a line without reading it. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** A file that goes along with lines. */
export interface EchoFile {
  readonly title: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** What is said to a bot. */
export interface EchoPrompt {
  readonly value?: unknown;
  readonly lines: readonly EchoLine[];
  readonly files: readonly EchoFile[];
}

/** What a bot or a tool replies. */
export interface EchoReply {
  readonly value?: unknown;
  readonly lines?: readonly EchoLine[] | undefined;
  readonly files?: readonly EchoFile[] | undefined;
  /** The tokens that making it has used. */
  readonly tokens?: EchoTokens | undefined;
}

/** Tokens, as an Echo counts them. */
export interface EchoTokens {
  readonly read: number;
  readonly written: number;
}

/** How a bot is run. */
export interface EchoOptions {
  /** Names the conversation: a repeated run with the same name is the same run. */
  readonly session: string;
  /** Which turn of the conversation this is. An Echo remembers named turns, each of them once. */
  readonly turn?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for everything that is emitted. */
  readonly onEvent?: ((event: unknown) => void) | undefined;
  /** Answers to earlier questions, by question id. */
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
  /** Passed on to tools unchanged: a trace, a tenant. */
  readonly context?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What a bot has at hand while it makes its reply. */
export interface EchoTurn extends EchoPrompt, EchoOptions {
  readonly signal: AbortSignal;
  emit(event: unknown): void;
  /** Returns the answer, or interrupts the run until there is one. */
  ask(id: string, text: string): unknown;
  /** `call` names the use of a tool within the session. */
  use(tool: string, call: string, prompt: EchoPrompt): Promise<EchoReply>;
}

/** Makes the reply to a prompt. */
export type EchoBot = (turn: EchoTurn) => EchoReply | Promise<EchoReply>;

/** A tool that a bot can use. */
export interface EchoTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
  use(prompt: EchoPrompt, turn: EchoTurn, call: string): Promise<EchoReply>;
}

/** The run waits for answers. */
export interface EchoPause {
  readonly asks: readonly { readonly id: string; readonly text: string }[];
}

class EchoInterrupt extends Error {
  override readonly name: string = "EchoInterrupt";
  readonly id: string;
  readonly text: string;

  constructor(id: string, text: string) {
    super(`The run waits for an answer to: ${text}`);
    this.id = id;
    this.text = text;
  }
}

class EchoLimitError extends Error {
  override readonly name: string = "EchoLimitError";
}

const LINES_AT_MOST = 1000;
const SESSIONS_KEPT = 1000;

/** The framework of this template: a bot that replies, with tools, questions and sessions. */
export class Echo {
  readonly #bot: EchoBot;
  readonly #tools: ReadonlyMap<string, EchoTool>;
  /** What was said, by session and turn, in order of use. */
  readonly #sessions = new Map<string, Map<string, readonly EchoLine[]>>();

  /** Without a bot of its own, an Echo repeats its prompt. */
  constructor(bot: EchoBot = ({ value, lines }) => ({ value, lines }), tools: EchoTool[] = []) {
    this.#bot = bot;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** Whether a session has turns besides this one. */
  remembers(session: string, turn: string): boolean {
    return [...(this.#sessions.get(session)?.keys() ?? [])].some((each) => each !== turn);
  }

  async run(prompt: EchoPrompt, options: EchoOptions): Promise<EchoReply | EchoPause> {
    if (prompt.lines.length > LINES_AT_MOST) {
      throw new EchoLimitError(`An Echo listens to ${LINES_AT_MOST} lines at most.`);
    }
    const turn: EchoTurn = {
      ...prompt,
      ...options,
      lines: [...this.#before(options), ...prompt.lines],
      signal: options.signal ?? new AbortController().signal,
      emit: (event) => options.onEvent?.(event),
      ask(id, text) {
        const { answers = {} } = options;
        if (Object.hasOwn(answers, id)) return answers[id];
        throw new EchoInterrupt(id, text);
      },
      use: (name, call, given) => {
        const tool = this.#tools.get(name);
        if (tool === undefined) throw new Error(`There is no tool ${name}.`);
        return tool.use(given, turn, call);
      },
    };
    try {
      const reply = await this.#bot(turn);
      this.#remember(options, [...prompt.lines, ...linesOf(reply)]);
      return reply;
    } catch (error) {
      if (!(error instanceof EchoInterrupt)) throw error;
      return { asks: [{ id: error.id, text: error.text }] };
    }
  }

  #before({ session, turn }: EchoOptions): EchoLine[] {
    const turns = turn === undefined ? [] : [...(this.#sessions.get(session) ?? [])];
    return turns.flatMap(([name, lines]) => (name === turn ? [] : lines));
  }

  #remember({ session, turn }: EchoOptions, lines: readonly EchoLine[]): void {
    if (turn === undefined) return;
    const turns = this.#sessions.get(session) ?? new Map<string, readonly EchoLine[]>();
    turns.set(turn, lines);
    this.#sessions.delete(session);
    this.#sessions.set(session, turns);
    const [longest] = this.#sessions.keys();
    if (this.#sessions.size > SESSIONS_KEPT) this.#sessions.delete(longest!);
  }
}

function linesOf({ lines, value }: EchoReply): readonly EchoLine[] {
  return lines ?? (typeof value === "string" ? [{ speaker: "assistant", text: value }] : []);
}
