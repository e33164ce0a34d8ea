import { conversationOf, offerOf, outputOf, textOf, unnamedUser } from "@waybill/agent/adapter";
import type { Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import { runTeam } from "./run-team.ts";
import type { TeamState } from "./run-team.ts";
import type { Team } from "./team.ts";

/**
 * A team as a capability.
 *
 * @example
 * ```ts
 * agent.serve(...serveTeam(newsroom, { name: "report" }));
 * ```
 */
export function serveTeam(team: Team, capability: CapabilityInput): Offer {
  return offerOf({
    capability,
    names: namesIn(team),
    keepsTranscripts: true,
    run: (run) => gathered(team, run),
  });
}

function namesIn({ members }: Team): string[] {
  return members.map(({ name }) => name);
}

async function gathered(team: Team, run: Run): Promise<Finished | Paused> {
  const { work, resume } = run;
  const { output_schema: schema } = run.capability;
  const user = unnamedUser(namesIn(team), run.delegator);
  const asked = conversationOf(work, schema).map((message) => {
    const isUnnamed = message.role === "user" && message.name === undefined;
    return isUnnamed && user !== undefined ? { ...message, name: user } : message;
  });
  const { messages, artifacts, questions, state } = await runTeam(team, {
    run: run.handoffId,
    messages: asked,
    artifacts: work.artifacts,
    after: resume && (JSON.parse(resume.state) as TeamState),
    answers: resume?.answers,
    signal: run.signal,
    traceparent: run.traceparent,
    tracestate: run.tracestate,
    onMessage: (message) => run.progress({ message: `${message.name}: ${textOf(message)}` }),
    onDelta: run.delta,
    onProgress: run.progress,
  });
  if (questions.length > 0) return { questions, state: JSON.stringify(state) };
  // The last text is the team's answer; no model is left that could repeat it in another form.
  const last = messages.findLast((message) => textOf(message) !== "");
  const output = await outputOf(last === undefined ? "" : textOf(last), schema);
  return { output, messages: work.messages && messages, artifacts };
}
