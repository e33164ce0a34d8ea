import { isAgentId, WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { AttachRequest, Delivery } from "@waybill/protocol/wire";
import { commitFrame } from "../engine/commit-frame.ts";
import type { Engine } from "../engine/engine.ts";
import { AgentSession } from "./agent-session.ts";
import type { AttachingAgent } from "./agent-session.ts";

const PAGE = 100;
const CREDIT_AT_MOST = 10_000;
const INSTANCE_CHARACTERS = 256;

export function checkAttachRequest({
  agent,
  credit,
  instance,
}: Omit<AttachRequest, "proof">): void {
  if (!isAgentId(agent) || !Number.isInteger(credit) || credit < 0 || credit > CREDIT_AT_MOST) {
    throw new WaybillError(
      400,
      `An attachment needs an agent id and a credit from 0 to ${CREDIT_AT_MOST}.`,
    );
  }
  if (typeof instance === "string" && instance.length <= INSTANCE_CHARACTERS) return;
  throw new WaybillError(
    400,
    `An instance must be a string of at most ${INSTANCE_CHARACTERS} characters.`,
  );
}

/** Attaches an authenticated agent. It replaces an earlier attachment of that agent. */
export function attachAgent(
  engine: Engine,
  request: AttachingAgent,
  handler: (delivery: Delivery) => void,
): AgentSession {
  checkAttachRequest(request);
  engine.assertOpen();
  const { agent, instance, helloAt = Infinity } = request;
  const before = engine.agentSessions.get(agent);
  if ((before?.helloAt ?? 0) > helloAt) {
    // An old hello that was long on its way: its connection may be dead, and must not end a newer one.
    throw new WaybillError(
      503,
      `A newer hello has attached ${agent}, so this one is too late. Attach again if that connection is gone.`,
    );
  }
  const attached = new AgentSession(
    request,
    handler,
    engine.clock,
    {
      frame: (from, type, handoffId, attempt) =>
        commitFrame(engine, from, { type, handoffId, attempt }),
      delta: (delegator, delta) => engine.agentSessions.get(delegator)?.show(delta),
      holds: (more) => engine.unseen.hold(more),
      hasRoom: (who) => engine.dispatcher.pull(who),
      roomChanged: (who) => engine.attachedCapabilities.noteRoom(who),
      left: (who) => {
        if (engine.agentSessions.get(agent) === who) engine.agentSessions.delete(agent);
        engine.dispatcher.onDetached(who);
        engine.attachedCapabilities.left(who);
        engine.lastSeen.note(agent, engine.clock.now());
        engine.log({ event: "detached", agent });
      },
      failed: (error) => engine.log({ event: "failure", agent, error }),
    },
    engine.limits.deltasPerSecond,
  );
  engine.agentSessions.set(agent, attached);
  engine.lastSeen.note(agent, engine.clock.now());
  before?.end(
    before.instance === instance
      ? // Not 409, which makes a process give up: this process has a newer connection, or will attach again.
        new WaybillError(503, `${agent} continues over another connection.`)
      : new WaybillError(
          409,
          `Another process has attached as ${agent} (${instance}): an agent can be attached only once.`,
        ),
  );
  engine.log({ event: "attached", agent });
  engine.inBackground(serve(engine, attached));
  return attached;
}

async function serve(engine: Engine, attached: AgentSession): Promise<void> {
  try {
    // The key may have been revoked while the hello was on its way.
    await engine.keys.look(attached);
    await engine.attachedCapabilities.learn(attached);
    await restore(engine, attached);
    await engine.dispatcher.onAttached(attached);
  } catch (error) {
    attached.endUnserved(error);
    throw error;
  }
}

/** Delivers what an agent may have missed: ends, questions and acceptances, and its own attempts. */
async function restore(engine: Engine, attached: AgentSession): Promise<void> {
  for (let after: string | undefined; attached.isOpen;) {
    const page = await engine.store.inbox(attached.agent, { after, limit: PAGE });
    for (const { id } of page) {
      const given = new Set<Digest>();
      let isMore = true;
      while (isMore) {
        // Outside the queue of the handoff: its other party must not wait for this reader.
        await attached.ready();
        if (!attached.isOpen) return;
        isMore = await engine.records.queue.run(id, () =>
          deliverMissed(engine, id, attached, given),
        );
      }
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

/** Whether there is more of it than could be delivered at once. */
async function deliverMissed(
  engine: Engine,
  id: string,
  attached: AgentSession,
  given: Set<Digest>,
): Promise<boolean> {
  try {
    const found = await engine.records.load(id);
    if (found === undefined) return false;
    return await engine.deliveries.deliverMissed(found.record, attached, given);
  } catch (error) {
    // A damaged record stays damaged, and must not block everything else for the agent.
    if (WaybillError.is(error, 503)) throw error;
    engine.log({ event: "failure", agent: attached.agent, handoffId: id, error });
    return false;
  }
}
