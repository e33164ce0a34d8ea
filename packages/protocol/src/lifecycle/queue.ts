/** Priorities of handoffs, and what one is worth. */
export const PRIORITIES: {
  readonly most: number;
  readonly default: number;
  readonly headStartMs: number;
} = {
  most: 9,
  /** The default priority of a handoff. */
  default: 4,
  /**
   * A priority is a head start in the queue, and no class of its own: a handoff that waits long enough
   * precedes everything that came later, so that nothing starves.
   */
  headStartMs: 60_000,
};

/**
 * The place of a waiting handoff in the queue, which never changes: the lowest is offered first.
 * `dueAt`: when it could first have been offered, by the hub's clock.
 */
export function queuePlace(dueAt: number, priority: number = PRIORITIES.default): number {
  return dueAt - priority * PRIORITIES.headStartMs;
}
