import { step } from "@waybill/protocol/hub";
import type { Digest } from "@waybill/protocol";
import type { Handoff, LifecycleEvent } from "@waybill/protocol/hub";
import type { Case } from "../group.ts";

const PROGRESS_EVENTS = 4;
const SCRIPTS = 256;

/** Handoffs from submit to result; an operation is one step. */
export function lifecycleCase(name: string): Case {
  const scripts = Array.from({ length: SCRIPTS }, (_, index) => script(index));
  let next = 0;
  return {
    name,
    opsPerRun: scripts[0]!.length,
    isComputing: true,
    run(steps) {
      for (let done = 0; done < steps;) {
        const events = scripts[next++ % SCRIPTS]!;
        let state: Handoff | undefined;
        for (const event of events) state = step(state, event).state;
        // A refused event is faster than a transition, and would distort the figure.
        if (state?.state !== "completed") throw new Error(`the handoff ended as ${state?.state}`);
        done += events.length;
      }
    },
  };
}

function script(index: number): LifecycleEvent[] {
  const start = 1_800_000_000_000 + index;
  const digest = digestOf(index, "a");
  const by = "research-agent-001";
  const ofAttempt = { by, attempt: 1, re: digest } as const;
  return [
    {
      type: "submit",
      at: start,
      by: "editor-001",
      id: `handoff-${index}`,
      digest,
      recipient: by,
      deadline: start + 60_000,
    },
    { type: "offer", at: start + 1, recipient: by },
    { type: "taken", at: start + 2, by, attempt: 1 },
    { type: "accept", at: start + 3, ...ofAttempt },
    ...Array.from({ length: PROGRESS_EVENTS }, (_, i): LifecycleEvent => ({
      type: "progress",
      at: start + 4 + i,
      ...ofAttempt,
    })),
    {
      type: "result",
      at: start + 10,
      ...ofAttempt,
      status: 200,
      digest: digestOf(index, "b"),
    },
  ];
}

function digestOf(index: number, filler: string): Digest {
  return `sha256:${String(index).padStart(64, filler)}`;
}
