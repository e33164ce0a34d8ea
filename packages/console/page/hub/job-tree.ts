import type { JobHandoff } from "./job.ts";

/** A handoff in its place below the one that it is part of. */
export interface JobBranch {
  readonly handoff: JobHandoff;
  readonly depth: number;
  /** How many handoffs are below it, at any depth. */
  readonly below: number;
}

const DEPTH_SHOWN = 8;
/** A handoff with more parts is folded at first. */
const PARTS_UNFOLDED = 50;

/** Parents before their parts, otherwise in the order in which they began. */
export function treeOf(handoffs: readonly JobHandoff[]): readonly JobBranch[] {
  const ids = new Set(handoffs.map(({ id }) => id));
  const parts = new Map<string | undefined, JobHandoff[]>();
  for (const handoff of handoffs) {
    const { parent } = handoff;
    const above =
      parent !== undefined && parent !== handoff.id && ids.has(parent) ? parent : undefined;
    const siblings = parts.get(above);
    if (siblings === undefined) parts.set(above, [handoff]);
    else siblings.push(handoff);
  }
  const branches: JobBranch[] = [];
  const add = (handoff: JobHandoff, depth: number): number => {
    const place = branches.length;
    branches.push({ handoff, depth: Math.min(depth, DEPTH_SHOWN), below: 0 });
    let below = 0;
    for (const part of parts.get(handoff.id) ?? []) below += 1 + add(part, depth + 1);
    branches[place] = { ...branches[place]!, below };
    return below;
  };
  for (const root of parts.get(undefined) ?? []) add(root, 0);
  return branches;
}

/** The handoffs whose parts are folded at first: there are too many to look at. */
export function foldedAtFirst(branches: readonly JobBranch[]): ReadonlySet<string> {
  return new Set(
    branches.filter(({ below }) => below > PARTS_UNFOLDED).map(({ handoff }) => handoff.id),
  );
}

/** The branches that are not below a folded one. */
export function unfolded(
  branches: readonly JobBranch[],
  folded: ReadonlySet<string>,
): readonly JobBranch[] {
  const shown: JobBranch[] = [];
  for (let index = 0; index < branches.length; index++) {
    const branch = branches[index]!;
    shown.push(branch);
    if (folded.has(branch.handoff.id)) index += branch.below;
  }
  return shown;
}
