import type { Agent } from "@waybill/agent";
import { currentWork, dispatch, offerOf, settle } from "@waybill/agent/adapter";
import type { Finished, Offer, Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Capability } from "@waybill/protocol";
import { offeredHere } from "./far-capabilities.ts";

/**
 * Serves the capabilities of another hub's agents by handing the work off there: with its files and
 * history, its session, its progress, its questions, its usage and its end. The id there is derived
 * from the one here, so that after a restart the handoff is found again and not made twice.
 */
export function relayOf(capability: Capability, far: Agent): Offer {
  return offerOf({ capability: offeredHere(capability), run: (run) => passOn(run, far) });
}

async function passOn(run: Run, far: Agent): Promise<Finished> {
  run.signal.throwIfAborted();
  const { name, version } = run.capability;
  const handle = dispatch(far, {
    ...run.work,
    capability: name,
    version,
    step: { run: run.handoffId, step: "peer" },
    correlationId: run.correlationId,
    traceparent: run.traceparent,
    tracestate: run.tracestate,
    deadline: run.deadline,
    // All delegators here are this one agent there. The session name alone would open another
    // delegator's session.
    session: run.session && run.thread,
  });
  const passing = settle(handle, {
    signal: unwanted(run.signal),
    onProgress: ({ by: _by, attempt: _attempt, ...progress }) => run.progress(progress),
    onQuestion: ({ id, text, data, schema }) => run.ask({ id, text, data, schema }),
  });
  // If the attempt here is over first, its outcome there no longer matters.
  passing.catch(() => undefined);
  try {
    const result = await Promise.race([passing, over(run.signal)]);
    if (result.session !== undefined) run.session?.found(result.session === "continued");
    const { output, messages, artifacts, effects } = result;
    return { output, messages, artifacts, effects };
  } finally {
    // The ledger here has no child handoff that could carry the usage.
    for (const row of handle.usage?.rows ?? []) currentWork()?.addUsage(row);
  }
}

/** Nobody wants the work any more. With any other status, another attempt continues it there. */
const FOR_GOOD: ReadonlySet<number> = new Set([499, 504]);

function unwanted(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener("abort", () => {
    if (FOR_GOOD.has(WaybillError.from(signal.reason).status)) controller.abort(signal.reason);
  });
  return controller.signal;
}

function over(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
