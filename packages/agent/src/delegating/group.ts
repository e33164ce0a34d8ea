import { isFailure, isGroupOver, judgeGroup, newId, WaybillError } from "@waybill/protocol";
import type { Group, GroupVerdict, HandoffState, Json } from "@waybill/protocol";
import type { HandoffResult } from "./ending.ts";
import type { QuestionSchemas } from "../capability/capability.ts";
import type { HandoffHandle } from "./handoff-handle.ts";

/** When a group succeeds: with `all`, with `any`, or with a `quorum` of its members. */
export type JoinRule = Pick<Group, "join" | "quorum">;

/** How a group is joined. */
export interface GroupOptions extends JoinRule {
  /** What happens to the other members once the group has failed: `cancel` by default. */
  readonly onFailure?: "cancel" | "wait" | undefined;
}

/** The outcome of a group. */
export interface GroupResult<Output = Json | undefined> {
  /** By index in the group; undefined for members that were not needed, or failed. */
  readonly results: readonly (HandoffResult<Output> | undefined)[];
  /** By index in the group: why a member has failed. */
  readonly errors: readonly (WaybillError | undefined)[];
}

/** A group of handoffs, as its delegator holds it. */
export interface GroupHandle<
  Output = Json | undefined,
  Questions extends QuestionSchemas | undefined = undefined,
> {
  /** The group's id, in the envelopes of its members. */
  readonly id: string;
  /** Its members, in the order in which they were given. */
  readonly handles: readonly HandoffHandle<Output, Questions>[];
  /** Resolves when the rule is met; rejects with the first error when it can't be met any more. */
  readonly result: Promise<GroupResult<Output>>;
}

/** Hands off all members of a group, and joins their ends by its rule. */
export function handoffGroup<Output, Questions extends QuestionSchemas | undefined>(
  count: number,
  options: GroupOptions,
  start: (index: number, group: Group) => HandoffHandle<Output, Questions>,
): GroupHandle<Output, Questions> {
  const id = newId();
  const { join, quorum, onFailure } = options;
  const rule = {
    join,
    ...(quorum === undefined ? {} : { quorum }),
    ...(onFailure === "wait" ? { on_failure: onFailure } : {}),
  };
  const handles = Array.from({ length: count }, (_, index) =>
    start(index, { id, index, size: count, ...rule }),
  );
  const result = joined(handles, options);
  result.catch(() => undefined);
  return { id, handles, result };
}

async function joined<Output>(
  handles: readonly Pick<HandoffHandle<Output>, "result" | "cancel">[],
  options: GroupOptions,
): Promise<GroupResult<Output>> {
  const states: HandoffState[] = handles.map(() => "open");
  const verdict = (): GroupVerdict => judgeGroup(states, { ...options, size: handles.length });
  const results: (HandoffResult<Output> | undefined)[] = handles.map(() => undefined);
  const errors: (WaybillError | undefined)[] = handles.map(() => undefined);
  const first: WaybillError[] = [];
  const cancelled: WaybillError[] = [];
  let isSettled = false;
  await new Promise<void>((resolve) => {
    const judge = () => {
      const isOver = isGroupOver(verdict(), options.onFailure) || !states.includes("open");
      if (isSettled || !isOver) return;
      isSettled = true;
      resolve();
    };
    handles.forEach((handle, index) => {
      handle.result
        .then(
          (value) => {
            results[index] = value;
            states[index] = "completed";
          },
          (reason: unknown) => {
            const error = WaybillError.from(reason);
            errors[index] = error;
            states[index] = "failed";
            // A member that was cancelled because another failed is not the cause.
            if (isFailure(error.status) && error.status !== 499) first.push(error);
            else cancelled.push(error);
          },
        )
        .then(judge, judge);
    });
  });
  const open = handles.filter((_, index) => states[index] === "open");
  await Promise.allSettled(open.map((handle) => handle.cancel("The group does not need it.")));
  if (verdict() !== "reached") throw first[0] ?? cancelled[0]!;
  return { results, errors };
}
