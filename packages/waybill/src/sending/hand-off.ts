/// <reference types="node" />
import { createAgent } from "@waybill/agent";
import type { HandoffOptions, Hub } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { parseJson, parseManifest, readCompact, WaybillError } from "@waybill/protocol";
import type { WirePresence } from "@waybill/protocol/wire";
import type { Context } from "../context.ts";
import { isGiven, listOf, textOf } from "../command-line/given.ts";
import { announcedHub, hubClient } from "../hub/client.ts";
import type { HubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";
import { suggestion } from "../hub/known.ts";
import { domainOfFolder } from "../hub/which-hub.ts";
import { invitationFor } from "../hub/invitation-for.ts";
import { takeSeat } from "../hub/seat.ts";
import type { Seat } from "../hub/seat.ts";
import { Answers } from "./answers.ts";
import { follow } from "./follow.ts";

export interface Wanted {
  /** Only the operator itself may do it. */
  readonly isOperators?: boolean;
  readonly command: "send" | "dead-letters replay";
  readonly work: HandoffOptions;
  /** The command that resumes the same handoff with an answer. */
  readonly again: (handoffId: string, answer?: string) => string;
  /** The same error, if the command knows more about it. */
  readonly explain?: (error: WaybillError) => Promise<WaybillError>;
}

const CONNECT_MS = 3_000;
/** Leaves time for the connection's own error, which says more. */
const CONNECT_MARGIN_MS = 1_000;
/** How long a reachable hub may take until the work is handed off. */
const BEGIN_MS = 10_000;

/** Hands off as the agent of the settings, and follows the handoff to its end. Returns the exit code. */
export async function handOff(context: Context, wanted: Wanted): Promise<number> {
  const { given, settings, terminal, signal } = context;
  const { command, work, again, isOperators, explain: explained } = wanted;
  const answers = new Answers(listOf(given, "answer"));
  const { url } = announcedHub(settings, terminal);
  const beginning = new Beginning(url, signal, work.timeoutMs);
  const beginningContext = { ...context, signal: beginning.signal };
  try {
    await checkNotConnected(beginningContext);
    const seat = await takeSeat(settings, isOperators);
    try {
      terminal.status(`connecting to ${url}`);
      const hubKey = domainOfFolder(settings);
      const within = { signal: beginning.signal, timeoutMs: CONNECT_MS };
      const connected = await connect(url, {
        ...within,
        hubKey,
        log: ({ error }) => beginning.failed(error),
      });
      const hub = await beginning.wait(withoutRepublishing(connected, seat));
      const invitation = await beginning.wait(invitationFor(beginningContext, seat.agent));
      const agent = createAgent({
        id: seat.agent,
        key: seat.key,
        hub,
        invitation,
        log: ({ event, error }) => {
          if (event === "waiting") beginning.failed(error);
        },
      });
      try {
        await beginning.wait(agent.start()).catch((error: unknown) => {
          throw refusedAs(seat.agent, error);
        });
        beginning.end();
        const handle = agent.handoff({ ...work, acknowledge: "manual" });
        const isDetached = isGiven(given, "detach");
        const whyNobody = () => reasonsAgainst(context, hub, work);
        const explain = async (error: WaybillError) =>
          withSuggestion(context, work, (await explained?.(error)) ?? error);
        const saveTo = textOf(given, "save");
        const shown = { terminal, signal, answers, isDetached, command, again, explain, whyNobody };
        return await follow(handle, { ...shown, saveTo });
      } finally {
        await agent.stop();
        await connected.close();
      }
    } finally {
      seat.leave();
    }
  } finally {
    beginning.end();
  }
}

/** The steps up to the handoff, with a timeout for hubs that do not answer. */
class Beginning {
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #failure: unknown;

  constructor(url: string, signal: AbortSignal, timeoutMs: number = BEGIN_MS) {
    const ms = Math.min(Math.max(timeoutMs, CONNECT_MS + CONNECT_MARGIN_MS), BEGIN_MS);
    this.#timer = setTimeout(() => {
      if (this.#failure !== undefined) return this.#late.abort(this.#failure);
      const message = `The hub at ${url} has not answered in ${ms / 1000} s, though something listens there. Nothing was handed off. To check it: waybill doctor`;
      this.#late.abort(new WaybillError(503, message));
    }, ms);
    this.signal = AbortSignal.any([signal, this.#late.signal]);
  }

  /** The error of a failed try says more than a timeout. */
  failed(error: unknown): void {
    this.#failure = error;
  }

  wait<Value>(step: Promise<Value>): Promise<Value> {
    const { signal } = this;
    const aborted = new Promise<never>((_, reject) => {
      const stop = () => reject(signal.reason as WaybillError);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
    return Promise.race([step, aborted]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** An agent is attached once: handing off in the name of a connected agent would disconnect it. */
async function checkNotConnected(context: Context): Promise<void> {
  const { values, origins } = context.settings;
  const { agent } = values;
  if (origins.agent.source === "default") return;
  const presence = await presenceOf(hubClient(context), agent);
  if (presence?.is_connected !== true) return;
  throw new WaybillError(
    409,
    `${agent} is connected to ${values.hub} in another process, and this command would disconnect it. Stop that process first, or hand off as another agent with --agent and --key.`,
  );
}

/** Undefined if the hub does not know the agent, or does not say. */
async function presenceOf(hub: HubClient, agent: string): Promise<WirePresence | undefined> {
  try {
    return (await hub.get(`/v1/agents/${encodeURIComponent(agent)}`)) as WirePresence;
  } catch (error) {
    if ([401, 403, 404].includes(WaybillError.from(error).status)) return undefined;
    throw error;
  }
}

/** The hub, except that it leaves the manifest of an agent unchanged if it knows the agent by this key. */
async function withoutRepublishing(hub: Hub, { agent, key }: Seat): Promise<Hub> {
  const { manifests } = await hub.manifests({ agent, newest: true });
  const [newest] = manifests;
  if (newest === undefined) return hub;
  const { keys } = parseManifest(parseJson(readCompact(newest.text).payload));
  if (!keys.some(({ kid }) => kid === key.kid)) return hub;
  return {
    id: hub.id,
    domain: hub.domain,
    submit: (envelope) => hub.submit(envelope),
    publish: () => Promise.resolve(),
    manifests: (query) => hub.manifests(query),
    find: (query) => hub.find(query),
    attach: (...request) => hub.attach(...request),
    handoff: (id, as) => hub.handoff(id, as),
    ...(hub.blobs !== undefined && { blobs: hub.blobs }),
    ...(hub.challenge !== undefined && { challenge: () => hub.challenge!() }),
  };
}

const REASONS_SHOWN = 5;

async function reasonsAgainst(
  context: Context,
  hub: Hub,
  work: HandoffOptions,
): Promise<readonly string[]> {
  const { capability, input, version, tags, to } = work;
  const { fits, leftOut } = await hub.find({ capability, input, version, tags });
  const isMeant = ({ agent_id: agent }: { readonly agent_id: string }) =>
    to === undefined || agent === to;
  const fitting = fits.filter(isMeant).map(({ agent_id: agent }) => agent);
  if (fitting.length > 0) {
    const client = hubClient(context);
    const named = fitting.slice(0, REASONS_SHOWN).map(async (agent) => {
      const isAway = (await presenceOf(client, agent))?.is_connected === false;
      return isAway ? `${agent} (not connected)` : agent;
    });
    return [`No agent has accepted it yet. These fit: ${(await Promise.all(named)).join(", ")}.`];
  }
  return leftOut
    .filter(isMeant)
    .slice(0, REASONS_SHOWN)
    .map(({ agent_id: agent, reasons }) =>
      printable(`${agent} can't take it: ${reasons.join("; ")}`),
    );
}

/** Adds a suggestion to an error about an unknown capability or agent. */
async function withSuggestion(
  context: Context,
  { capability, to }: HandoffOptions,
  error: WaybillError,
): Promise<WaybillError> {
  if (error.status !== 404) return error;
  const hub = hubClient(context);
  const agent = to === undefined ? "" : await suggestion(hub, "agents", to);
  const near = agent === "" ? await suggestion(hub, "capabilities", capability) : agent;
  return near === "" ? error : new WaybillError(404, `${error.message}${near}`, { cause: error });
}

function refusedAs(agent: string, thrown: unknown): WaybillError {
  const error = WaybillError.from(thrown);
  if (error.status !== 401 && error.status !== 409) return error;
  return new WaybillError(
    error.status,
    `The hub does not accept this command as the agent ${agent}: ${error.message} To hand off as an agent of your own: --agent <id> --key <file>`,
    { cause: error },
  );
}
