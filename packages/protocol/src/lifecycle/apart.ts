/** A handoff that is part of no other one under its correlation id, with all who take part in it and its parts. */
export interface Root {
  readonly delegator: string;
  /** Who handed off, and who was asked: whoever is only named has not taken part. */
  readonly parties: ReadonlySet<string>;
}

/**
 * Anybody can write a correlation id that belongs to the job of others. Given the roots under one id,
 * the first that came in first, this tells the job from what stands apart: roots whose delegator has
 * taken part in nothing of the job before.
 */
export function jobOf<Each extends Root>(
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
