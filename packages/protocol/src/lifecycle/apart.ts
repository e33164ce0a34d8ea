/** A handoff without a parent under its correlation id, with all participants of it and its children. */
export interface RootHandoff {
  readonly delegator: string;
  /** The delegators and recipients: merely being named is not participating. */
  readonly parties: ReadonlySet<string>;
}

/**
 * Separates a job from unrelated handoffs with its correlation id, which anybody can write. Of the
 * roots under one id, given in order of arrival, the first belongs to the job. A root stands apart if
 * its delegator has taken part in nothing of the job before.
 */
export function jobOf<Each extends RootHandoff>(
  roots: readonly Each[],
): { readonly job: readonly Each[]; readonly apart: readonly Each[] } {
  const job: Each[] = [];
  const apart: Each[] = [];
  const parties = new Set<string>();
  for (const root of roots) {
    const isOfJob = job.length === 0 || parties.has(root.delegator);
    (isOfJob ? job : apart).push(root);
    if (isOfJob) for (const party of [root.delegator, ...root.parties]) parties.add(party);
  }
  return { job, apart };
}
