/** What the steps of a run have come to, as JSON, so that a run that goes on does not do them again. */
export class Journal {
  readonly #steps: Map<string, unknown>;

  constructor(steps: Readonly<Record<string, unknown>> = {}) {
    this.#steps = new Map(Object.entries(steps));
  }

  async once<Value>(step: string, act: () => Promise<Value>): Promise<Value> {
    if (!this.#steps.has(step)) this.#steps.set(step, await act());
    return this.#steps.get(step) as Value;
  }

  get steps(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.#steps);
  }
}
