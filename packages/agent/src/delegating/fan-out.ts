import { WaybillError } from "@waybill/protocol";
import type { CapabilityDeclaration, InputOf, OutputOf } from "../capability/capability.ts";
import type { HandoffResult } from "./ending.ts";
import type { HandoffHandle } from "./handoff-handle.ts";
import type { HandoffOptions } from "./options.ts";

/** How many handoffs of one fan-out are under way at once where nobody says how many. */
export const DEFAULT_CONCURRENCY = 16;

/** How inputs are fanned out to a declared capability. The other options hold for each of them. */
export interface FanOutOptions<
  Declaration extends CapabilityDeclaration = CapabilityDeclaration,
> extends Omit<HandoffOptions, "capability" | "input" | "handoffId" | "group"> {
  /** How many are under way at once, `DEFAULT_CONCURRENCY` where it is left out. */
  readonly concurrency?: number | undefined;
  /** Whether all are waited for, however some of them end. Left out: the first failure ends the others. */
  readonly settled?: boolean | undefined;
  /** The id of each, made beforehand by whoever must find them again after a crash. */
  readonly handoffId?: ((input: InputOf<Declaration>, index: number) => string) | undefined;
  /** Called with each as it is handed off: to follow its progress, and to answer what is asked. */
  readonly onHandoff?:
    | ((
        handoff: HandoffHandle<OutputOf<Declaration>, Declaration["questions"]>,
        index: number,
      ) => void)
    | undefined;
}

/** How one of a fan-out has ended. */
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

/** Keeps a bounded number of handoffs under way until there is no input left, or one has failed. */
export async function fanOut(
  inputs: readonly unknown[],
  { concurrency = DEFAULT_CONCURRENCY, settled: isSettled = false, ...options }: FanOutOptions,
  start: Start,
): Promise<unknown[]> {
  if (!(concurrency >= 1)) {
    throw new WaybillError(
      400,
      `A concurrency of ${concurrency} hands nothing off: give 1 or more.`,
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
        // What the others end with once they are cancelled is not what went wrong.
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
