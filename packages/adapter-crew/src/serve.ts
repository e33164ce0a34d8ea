import { offerOf } from "@waybill/agent/adapter";
import type { Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import type { Crew } from "./crew.ts";
import { runCrew } from "./run-crew.ts";
import type { CrewState } from "./crew-work.ts";

/**
 * A crew as a capability.
 *
 * @example
 * ```ts
 * agent.serve(...serveCrew(newsroom, { name: "report" }));
 * ```
 */
export function serveCrew(crew: Crew, capability: CapabilityInput): Offer {
  const names = [...crew.members.map(({ role }) => role), "manager"];
  return offerOf({ capability, names, keepsTranscripts: true, run: (run) => worked(crew, run) });
}

async function worked(crew: Crew, run: Run): Promise<Finished | Paused> {
  const { work, resume } = run;
  const { output, messages, artifacts, questions, state } = await runCrew(crew, {
    run: run.handoffId,
    request: work,
    output: run.capability.output_schema,
    after: resume && (JSON.parse(resume.state) as CrewState),
    answers: resume?.answers,
    signal: run.signal,
    traceparent: run.traceparent,
    tracestate: run.tracestate,
    onTask: ({ task, by }) => run.progress({ message: `${task}: done by ${by}` }),
    onProgress: run.progress,
  });
  if (questions.length > 0) return { questions, state: JSON.stringify(state) };
  return { output, messages: work.messages && messages, artifacts };
}
