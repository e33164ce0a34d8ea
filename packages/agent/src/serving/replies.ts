import { createReply, WaybillError } from "@waybill/protocol";
import type {
  Digest,
  Envelope,
  HandoffEnvelope,
  ProgressBody,
  QuestionEnvelope,
  ReceiptBody,
  ResultBody,
  SignedText,
} from "@waybill/protocol";
import type { AgentContext } from "../context.ts";
import { isArtifact } from "../artifacts/given.ts";
import { failureOf } from "./outcome.ts";
import type { GivenResult } from "./outcome.ts";

/** How long after the deadline to retry during an outage, so that the result is on record. */
const AFTER_DEADLINE_MS = 60_000;

interface ReplyContext {
  readonly from: string;
  readonly attempt: number;
  readonly re: Digest;
}

/** What a recipient signs about one attempt. Each promise settles once the hub has the envelope. */
export class Replies {
  readonly #context: AgentContext;
  readonly #handoff: HandoffEnvelope;
  readonly #about: ReplyContext;
  readonly #until: number;

  constructor(
    context: AgentContext,
    handoff: HandoffEnvelope,
    about: Omit<ReplyContext, "from"> & { readonly deadline: number },
  ) {
    const { attempt, re, deadline } = about;
    this.#context = context;
    this.#handoff = handoff;
    this.#about = { from: context.id, attempt, re };
    this.#until = deadline + AFTER_DEADLINE_MS;
  }

  receipt(body: ReceiptBody): Promise<void> {
    const { source } = this.#context;
    return this.#send(
      createReply(this.#handoff, { kind: "receipt", ...this.#about, body }, source),
    );
  }

  progress(body: ProgressBody): Promise<void> {
    const { source } = this.#context;
    return this.#send(
      createReply(this.#handoff, { kind: "progress", ...this.#about, body }, source),
    );
  }

  question(body: QuestionEnvelope["body"]): Promise<void> {
    const { source } = this.#context;
    return this.#send(
      createReply(this.#handoff, { kind: "question", ...this.#about, body }, source),
    );
  }

  /**
   * Sends a result. One that can't be signed or sent, because of its size or its values, becomes a
   * failure.
   */
  result(body: GivenResult, signal: AbortSignal): Promise<void> {
    return this.#tracked("result", this.#result(body, signal));
  }

  async #result(body: GivenResult, signal: AbortSignal): Promise<void> {
    const { source } = this.#context;
    const make = (content: ResultBody) =>
      createReply(this.#handoff, { kind: "result", ...this.#about, body: content }, source);
    const failed = (error: unknown) =>
      make({ ...failureOf(error, body.effects ?? "possible"), usage: body.usage });
    let signed: SignedText;
    try {
      const artifacts = await this.#sent(body.artifacts, signal);
      signed = await this.#signed(make({ ...body, artifacts }));
    } catch (error) {
      return this.#submit(await this.#signed(failed(error)));
    }
    try {
      await this.#submit(signed);
    } catch (error) {
      // The hub's limits may be lower than the agent's.
      if (!WaybillError.is(error, 413)) throw error;
      await this.#submit(await this.#signed(failed(error)));
    }
  }

  /** Returned synchronously if nothing has to be uploaded. */
  async #sent(
    artifacts: GivenResult["artifacts"],
    signal: AbortSignal,
  ): Promise<ResultBody["artifacts"]> {
    const files = this.#context.artifacts;
    if (files.areToBeSent(artifacts)) return files.send(artifacts!, { until: this.#until, signal });
    return artifacts?.filter(isArtifact);
  }

  #send(envelope: Envelope): Promise<void> {
    const sent = this.#signed(envelope).then((each) => this.#submit(each));
    return this.#tracked(envelope.kind, sent);
  }

  #tracked(kind: Envelope["kind"], sent: Promise<void>): Promise<void> {
    const { handoff_id: handoffId } = this.#handoff;
    return this.#context.outgoing.track({ kind, handoffId }, sent);
  }

  #signed(envelope: Envelope): Promise<SignedText> {
    return this.#context.signer.sign(envelope);
  }

  async #submit(signed: SignedText): Promise<void> {
    await this.#context.link.submit(signed, this.#until);
  }
}
