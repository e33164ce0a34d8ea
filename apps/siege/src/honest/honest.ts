/// <reference types="node" />
// The honest pair: a delegator that hands off to a recipient at a constant rate, each connected by
// its own socket. Started with the hub's address; the siege sets the phase.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { generateKey, WaybillError } from "@waybill/protocol";
import type { FromHonest, ToHonest } from "./messages.ts";
import { Phase } from "./phase.ts";

/** The interval between handoffs, whether or not the earlier ones have ended. */
const PACE_MS = 10;
/** The maximum of open handoffs: a backlog of this size can't pass for fast. */
const OPEN_AT_MOST = 5_000;
const TIMEOUT_MS = 300_000;
const TERMS = { lease_seconds: 60, max_attempts: 20 };

const [url = ""] = process.argv.slice(2);
const tell = (message: FromHonest): void => void (process.connected && process.send!(message));
process.once("disconnect", () => process.exit());

const phases = new Map<string, Phase>();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let phase = phaseNamed("joining");
let open = 0;
let count = 0;

const recipient = await agentOf("honest-recipient");
recipient.serve<number>({ name: "double", ...TERMS }, ({ input }) => 2 * input);
await recipient.start();
const delegator = await agentOf("honest-delegator");
await delegator.start();
process.on("message", (message: ToHonest) => void hear(message));
const pacing = pace();
tell({ type: "ready" });

async function agentOf(id: string): Promise<Agent> {
  const hub = await connect(url, { timeoutMs: 30_000 });
  return createAgent({ id, key: generateKey(), hub, credit: OPEN_AT_MOST });
}

/** Paced by the clock and not by the last answer: a stalled hub gets no less load. */
function pace(): NodeJS.Timeout {
  let dueAt = performance.now();
  return setInterval(() => {
    for (const now = performance.now(); dueAt <= now; dueAt += PACE_MS) {
      if (open < OPEN_AT_MOST) phase.keep(dueAt, handOff(delegator, phase, dueAt));
    }
  }, PACE_MS / 2);
}

async function handOff(from: Agent, within: Phase, dueAt: number): Promise<void> {
  const input = count++;
  open++;
  try {
    const handoff = from.handoff({
      to: "honest-recipient",
      capability: "double",
      input,
      timeoutMs: TIMEOUT_MS,
    });
    const isTaken = handoff.custody.then(
      () => true,
      () => false,
    );
    const { output } = await handoff.result.catch(async (error: unknown) => {
      // Without custody there is no promise.
      if (!(await isTaken)) throw Object.assign(new Error(String(error)), { isRefused: true });
      throw error;
    });
    if (output === 2 * input) within.complete(performance.now() - dueAt);
    else within.wrong.push(`${input} came back as ${JSON.stringify(output)}`);
  } catch (error) {
    if ((error as { isRefused?: boolean }).isRefused === true) within.refused++;
    within.wrong.push(WaybillError.from(error).message);
  } finally {
    open--;
  }
}

async function hear(message: ToHonest): Promise<void> {
  switch (message.type) {
    case "phase":
      phase = phaseNamed(message.name);
      delay.reset();
      return tell({ type: "begun" });
    case "report": {
      const reported = phaseNamed(message.name);
      const ownDelay = delay.percentile(99) / 1e6;
      await reported.settled(AbortSignal.timeout(message.withinMs));
      return tell({ type: "reported", report: reported.report(ownDelay) });
    }
    case "join":
      return tell(await join(message.withinMs));
    case "end":
      clearInterval(pacing);
      process.exit();
  }
}

async function join(withinMs: number): Promise<FromHonest> {
  const since = performance.now();
  const signal = AbortSignal.timeout(withinMs);
  try {
    const hub = await connect(url, { timeoutMs: withinMs, signal });
    const agent = createAgent({ id: `honest-newcomer-${++count}`, key: generateKey(), hub });
    const late = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(new Error("too late"))),
    );
    late.catch(() => undefined);
    await Promise.race([agent.start(), late]);
    const within = new Phase();
    await Promise.race([handOff(agent, within, since), late]);
    if (within.completed === 0) throw new Error(within.wrong.join("; "));
    const ms = performance.now() - since;
    await agent.stop();
    await hub.close();
    return { type: "joined", ms };
  } catch (error) {
    return { type: "joined", ms: null, error: WaybillError.from(error).message };
  }
}

function phaseNamed(name: string): Phase {
  let found = phases.get(name);
  if (found === undefined) phases.set(name, (found = new Phase()));
  return found;
}
