import { WaybillError } from "@waybill/protocol";
import type { CapabilityDeclaration, InputOf, OutputOf } from "../capability/capability.ts";
import type { HandoffResult } from "./ending.ts";
import type { HandoffHandle } from "./handoff-handle.ts";
import type { HandoffOptions } from "./options.ts";

/** How many handoffs of one fan-out are under way at once by default. */
export const DEFAULT_CONCURRENCY = 16;

/** How inputs are fanned out to a declared capability. The other options apply to each handoff. */
export interface FanOutOptions<
  Declaration extends CapabilityDeclaration = CapabilityDeclaration,
> extends Omit<HandoffOptions, "capability" | "input" | "handoffId" | "group"> {
  /** How many are under way at once, by default `DEFAULT_CONCURRENCY`. */
  readonly concurrency?: number | undefined;
  /** Whether to wait for all, even if some fail. By default the first failure cancels the others. */
  readonly settled?: boolean | undefined;
  /** The id of each handoff, made beforehand by an application that has to find them after a crash. */
  readonly handoffId?: ((input: InputOf<Declaration>, index: number) => string) | undefined;
  /** Called with each handoff as it is made: to observe its progress, and to answer its questions. */
  readonly onHandoff?:
    | ((
        handoff: HandoffHandle<OutputOf<Declaration>, Declaration["questions"]>,
        index: number,
      ) => void)
    | undefined;
}

/** How one handoff of a fan-out has ended. */
export type Settled<Output> =
  | {
      readonly status: "fulfilled";
      readonly handoffId: string;
      readonly value: HandoffResult<Output>;
    }
  | { readonly status: "rejected"; readonly handoffId: string; readonly reason: WaybillError };

type Start = (
  options: Partial<HandoffOptions<unknown>>,
) => Pick<HandoffHandle<unknown>, "id" | "result" | "cancel">;

/** Keeps a bounded number of handoffs under way until all inputs are done, or one has failed. */
export async function fanOut(
  inputs: readonly unknown[],
  { concurrency = DEFAULT_CONCURRENCY, settled: isSettled = false, ...options }: FanOutOptions,
  start: Start,
): Promise<unknown[]> {
  if (!(concurrency >= 1)) {
    throw new WaybillError(
      400,
      `A concurrency of ${concurrency} would hand nothing off: give 1 or more.`,
    );
  }
  const { handoffId, onHandoff, ...shared } = options;
  const endings: unknown[] = Array.from(inputs, () => undefined);
  const underWay = new Set<ReturnType<Start>>();
  let next = 0;
  let failure: { readonly reason: unknown } | undefined;

  async function handOff(index: number): Promise<void> {
    const input = inputs[index];
    const handle = start({ ...shared, input, handoffId: handoffId?.(input as never, index) });
    underWay.add(handle);
    try {
      onHandoff?.(handle as never, index);
      const value = await handle.result;
      endings[index] = isSettled ? { status: "fulfilled", handoffId: handle.id, value } : value;
    } catch (error) {
      if (!isSettled) throw error;
      const reason = WaybillError.from(error);
      endings[index] = { status: "rejected", handoffId: handle.id, reason };
    } finally {
      underWay.delete(handle);
    }
  }

  async function work(): Promise<void> {
    while (next < inputs.length && failure === undefined) {
      try {
        await handOff(next++);
      } catch (reason) {
        // The cancellation errors of the others are not the cause.
        if (failure !== undefined) continue;
        failure = { reason };
        for (const each of underWay) {
          each.cancel("Another one of the same fan-out has failed.").catch(() => undefined);
        }
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, inputs.length) }, work));
  if (failure !== undefined) throw failure.reason;
  return endings;
}
