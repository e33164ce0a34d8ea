/// <reference types="node" />
import type { DeltaEvent, HandoffHandle, HandoffResult, QuestionEvent } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import { exitCodeOf } from "../command-line/exit-code.ts";
import { durationText } from "../terminal/duration.ts";
import { USUAL_COLUMNS } from "../terminal/terminal.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { widthOf } from "../terminal/text.ts";
import { askAtTerminal } from "./answers.ts";
import type { Answers } from "./answers.ts";
import { acceptedStage, answeredStage, custodyStage, deltaStage } from "./stages.ts";
import { endedStage, endText, progressStage, questionStage, resultStage } from "./stages.ts";
import type { Stage } from "./stages.ts";
import { saveFiles, savingTimeMs } from "./result-files.ts";
import type { SavedFile } from "./result-files.ts";
import { Writing } from "./writing.ts";

export interface FollowOptions {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly answers: Answers;
  readonly isDetached: boolean;
  /** The command as it was typed. */
  readonly command: string;
  /** The command that resumes the same handoff, to answer later. */
  readonly again: (handoffId: string, answer?: string) => string;
  /** The same error, with a suggestion. */
  readonly explain: (error: WaybillError) => Promise<WaybillError>;
  /** The folder for the files of the result. */
  readonly saveTo?: string | undefined;
  /** Why nobody has taken it yet, as far as the hub can tell. */
  readonly whyNobody: () => Promise<readonly string[]>;
}

/** Shows every stage of a handoff as it happens, and prints its result. Returns the exit code. */
export function follow(handle: HandoffHandle, options: FollowOptions): Promise<number> {
  return new Following(handle, options).run();
}

const TICK_MS = 100;
const NOBODY_AFTER_MS = 2_000;
/** A hub that does not answer the acknowledgement must not delay the result. */
const ACKNOWLEDGE_MS = 5_000;
const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

class Following {
  readonly #handle: HandoffHandle;
  readonly #options: FollowOptions;
  readonly #startedAt = Date.now();
  readonly #unanswered = Promise.withResolvers<never>();
  #job: string | undefined;
  /** Requested at once: deltas that arrive before anybody reads are not kept. */
  readonly #deltas: AsyncIterable<DeltaEvent>;
  readonly #writing = new Writing();
  #isAccepted = false;
  #isAsking = false;
  /** The result has arrived, but its files could not be saved. */
  #isUnsaved = false;

  constructor(handle: HandoffHandle, options: FollowOptions) {
    this.#handle = handle;
    this.#deltas = handle.deltas;
    this.#options = options;
    this.#unanswered.promise.catch(() => undefined);
  }

  async run(): Promise<number> {
    const { terminal, signal, isDetached } = this.#options;
    const timers = this.#startTimers();
    const cancel = () => this.#inBackground(this.#handle.cancel("Cancelled at the terminal."));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    try {
      const custody = await this.#handle.custody;
      this.#job = this.#handle.envelope.correlation_id;
      await this.#show(custodyStage(custody, this.#handle.envelope));
      if (isDetached) return await this.#detached(this.#job);
      this.#inBackground(this.#showAcceptance());
      this.#inBackground(this.#showProgress());
      const written = this.#showDeltas();
      this.#inBackground(written);
      this.#inBackground(this.#answer());
      const result = await Promise.race([this.#handle.result, this.#unanswered.promise]);
      // Deltas end with the handoff, and are printed before its result.
      await written;
      return await this.#finished(result);
    } catch (thrown) {
      const error = WaybillError.from(thrown);
      return await this.#failed(await this.#options.explain(error));
    } finally {
      for (const timer of timers) clearInterval(timer);
      signal.removeEventListener("abort", cancel);
      terminal.status(undefined);
    }
  }

  /** An error there also shows in the result. */
  #inBackground(part: Promise<unknown>): void {
    part.catch(() => undefined);
  }

  async #showAcceptance(): Promise<void> {
    const receipt = await this.#handle.accepted;
    this.#isAccepted = true;
    await this.#show(acceptedStage(receipt));
  }

  async #showProgress(): Promise<void> {
    for await (const progress of this.#handle.progress) await this.#show(progressStage(progress));
  }

  async #showDeltas(): Promise<void> {
    for await (const delta of this.#deltas) {
      if (this.#options.terminal.isJson) await this.#show(deltaStage(delta));
      else this.#writing.add(delta);
    }
  }

  async #answer(): Promise<void> {
    const { answers, terminal, signal } = this.#options;
    for await (const question of this.#handle.questions) {
      await this.#show(questionStage(question));
      this.#isAsking = true;
      const answer = answers.take(question) ?? (await askAtTerminal(question, terminal, signal));
      this.#isAsking = false;
      if (answer === undefined) return this.#unanswered.reject(this.#nobodyToAnswer(question));
      await this.#handle.answer(question.id, answer);
      await this.#show(answeredStage(question.id, answer));
    }
  }

  #nobodyToAnswer({ id, by, text }: QuestionEvent): WaybillError {
    const again = this.#options.again(this.#handle.id, `${id}=<value>`);
    return new WaybillError(
      103,
      `${by} asks ${JSON.stringify(text ?? id)}, and no answer was given. The handoff waits until its deadline. To answer: ${again}`,
    );
  }

  async #detached(job: string): Promise<number> {
    const { terminal } = this.#options;
    if (!terminal.isJson) await terminal.write(`${this.#handle.id}\n`);
    terminal.note((style) => style.faint(`To follow it: waybill trace ${job}`));
    return 0;
  }

  async #finished(result: HandoffResult): Promise<number> {
    const { terminal, saveTo } = this.#options;
    let saved: readonly SavedFile[] = [];
    try {
      if (saveTo !== undefined) saved = await this.#saved(result, saveTo);
    } catch (thrown) {
      // The hub keeps a result that nobody has acknowledged, with its files.
      return this.#unsaved(WaybillError.from(thrown));
    }
    const isAcknowledged = await this.#acknowledged();
    await this.#show(resultStage(result, isAcknowledged, saved));
    const { output = null, messages } = result;
    const shown = output === null && messages.length > 0 ? messages : output;
    if (!terminal.isJson) await terminal.json(JSON.stringify(shown, null, 2));
    return 0;
  }

  /**
   * Limited by the deadline plus a grace period. Ctrl-C ends it at once, because nothing else is left
   * to stop.
   */
  #saved({ artifacts }: HandoffResult, folder: string): Promise<readonly SavedFile[]> {
    const { signal } = this.#options;
    const deadline = Date.parse(this.#handle.envelope.deadline);
    const ends = [AbortSignal.timeout(savingTimeMs(artifacts, deadline))];
    return saveFiles(artifacts, folder, AbortSignal.any(signal.aborted ? ends : [...ends, signal]));
  }

  #unsaved(error: WaybillError): never {
    this.#isUnsaved = true;
    throw new WaybillError(
      error.status,
      `${error.message} The hub keeps the result. To get it again: ${this.#options.again(this.#handle.id)}`,
      { cause: error },
    );
  }

  /** Whether the hub confirmed the acknowledgement. If it does not answer soon, it keeps the result. */
  async #acknowledged(): Promise<boolean> {
    const { promise: silence, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ACKNOWLEDGE_MS);
    const answer = this.#handle.acknowledge().then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answer, silence]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #failed(ending: WaybillError): Promise<number> {
    const { terminal } = this.#options;
    // A question is no end, and work that was never in custody has none.
    if (ending.status !== 103 && this.#job !== undefined && !this.#isUnsaved) {
      await this.#acknowledged();
    }
    const { id: handoffId, hasEnded: isEndKnown } = this.#handle;
    const followed = { handoffId, job: this.#job, command: this.#options.command, isEndKnown };
    if (terminal.isJson) await this.#show(endedStage(ending, followed));
    else terminal.warn((style) => endText(ending, followed, style));
    return exitCodeOf(ending.status);
  }

  async #show({ event, members, lines }: Stage): Promise<void> {
    const { terminal } = this.#options;
    if (terminal.isJson) {
      await terminal.answer({ event, handoff_id: this.#handle.id, ...members }, () => "");
      return;
    }
    terminal.note((style) => {
      const time = `+${durationText(Date.now() - this.#startedAt)}`.padStart(9);
      const [first = "", ...more] = lines(style);
      const rest = more.map((line) => `${" ".repeat(13)}${line}`);
      return [`${style.faint(time)}  ${first}`, ...rest].join("\n");
    });
  }

  #startTimers(): NodeJS.Timeout[] {
    const { terminal } = this.#options;
    let frame = 0;
    const tick = () => {
      if (this.#isAsking) return;
      const seconds = Math.floor((Date.now() - this.#startedAt) / 1000);
      const deadline = this.#handle.envelope.deadline.slice(11, 19);
      const sign = FRAMES[frame++ % FRAMES.length];
      const columns = (process.stderr.columns || USUAL_COLUMNS) - widthOf(`${sign} `) - 1;
      const doing = this.#writing.line(columns);
      const waiting = `${seconds} s so far, deadline ${deadline} UTC; Ctrl-C cancels`;
      terminal.status(`${sign} ${doing ?? waiting}`);
    };
    const ask = () => this.#inBackground(this.#sayWhyNobody());
    return terminal.isWatched ? [setInterval(tick, TICK_MS), setTimeout(ask, NOBODY_AFTER_MS)] : [];
  }

  async #sayWhyNobody(): Promise<void> {
    if (this.#isAccepted || this.#job === undefined) return;
    const reasons = await this.#options.whyNobody();
    if (this.#isAccepted || reasons.length === 0) return;
    this.#options.terminal.note((style) =>
      reasons.map((reason) => `${" ".repeat(11)}${style.warning("!")} ${reason}`).join("\n"),
    );
  }
}
