import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { Artifacts } from "../artifacts/artifacts.ts";
import type { GivenArtifact } from "../artifacts/given.ts";

/** The artifacts of one handoff that are read and uploaded before it is signed. */
export class Upload {
  /** As the application gave them. */
  readonly given: readonly GivenArtifact[];
  readonly #artifacts: Artifacts;
  #uploading: AbortController | undefined;

  constructor(artifacts: Artifacts, given: readonly GivenArtifact[]) {
    this.#artifacts = artifacts;
    this.given = given;
  }

  /** Uploads them, and returns the envelope that refers to them. */
  async run(handoff: HandoffEnvelope, signal: AbortSignal | undefined): Promise<HandoffEnvelope> {
    const uploading = new AbortController();
    this.#uploading = uploading;
    try {
      const artifacts = await this.#artifacts.send(this.given, {
        until: Date.parse(handoff.deadline),
        signal: AbortSignal.any([uploading.signal, ...(signal ? [signal] : [])]),
      });
      return { ...handoff, body: { ...handoff.body, artifacts } };
    } finally {
      this.#uploading = undefined;
    }
  }

  /** Ends an upload under way; false if there is none. */
  cancel(reason: string | undefined): boolean {
    if (this.#uploading === undefined) return false;
    const why = reason === undefined ? "" : ` ${reason}`;
    this.#uploading.abort(
      new WaybillError(499, `The handoff was cancelled while its files were uploaded.${why}`),
    );
    return true;
  }
}
