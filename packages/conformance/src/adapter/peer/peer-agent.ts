import { WaybillError } from "@waybill/protocol";
import type { CapabilityInput, Json, Message } from "@waybill/protocol";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Act, CallRequest, Played, Stage } from "../fixture.ts";
import type { Answering } from "./line.ts";
import type { Peer } from "./peer.ts";

export interface PeerAgentOptions {
  readonly id: string;
  /** The address of the hub. */
  readonly url: string;
  /** The file of its key. */
  readonly key: string;
}

/** What a run of a peer reports when its framework plays the act. */
interface Playing {
  readonly play: number;
  readonly work: PortableWork;
  readonly run: string;
  readonly traceparent?: string;
  readonly history?: readonly Message[] | null;
}

type Calling = Omit<CallRequest, "agent">;

/** The run of a peer that plays an act. */
const plays = new WeakMap<Stage, number>();

/** An agent in a peer process, which attaches to the hub by itself. */
export class PeerAgent {
  readonly #peer: Peer;
  readonly #agent: Json;

  private constructor(peer: Peer, agent: Json) {
    this.#peer = peer;
    this.#agent = agent;
  }

  static async open(peer: Peer, options: PeerAgentOptions): Promise<PeerAgent> {
    return new PeerAgent(peer, await peer.do("open", options, unasked));
  }

  async serve(capability: CapabilityInput, act: Act, folder: string): Promise<void> {
    const answering: Answering = (_, given, signal) => this.#play(act, given as never, signal);
    await this.#peer.do("serve", { agent: this.#agent, capability, folder }, answering);
  }

  async call(request: Calling): Promise<Played> {
    const { signal, ...asked } = this.#asked(request);
    return (await this.#peer.do("call", asked, heard(request), signal)) as Played;
  }

  /** Serves an agent that does nothing but call, so that the call is a child of its handoff. */
  async serveWhole(capability: string, request: Calling): Promise<void> {
    const { signal: _, ...asked } = this.#asked(request);
    await this.#peer.do("whole", { ...asked, whole: capability }, heard(request));
  }

  /** Hands off a child, from inside the run that plays. */
  part(stage: Stage, capability: string, input: Json): Promise<Json> {
    return this.#peer.ask("part", { play: plays.get(stage), capability, input });
  }

  async stop(mode: "finish" | "release" | "abandon"): Promise<void> {
    await this.#peer.ask("stop", { agent: this.#agent, mode });
  }

  #asked({ capability, to, run, step, work, ...asked }: Calling) {
    const { timeoutMs, session, traceparent, folder, signal } = asked;
    const request = { capability, to, run, step, work, timeoutMs, session, traceparent, folder };
    return { agent: this.#agent, request, signal };
  }

  async #play(act: Act, given: Playing, signal: AbortSignal): Promise<Json> {
    const { play, work, run, traceparent, history } = given;
    const stage: Stage = {
      work,
      history: history ?? undefined,
      run,
      traceparent,
      signal,
      show: (message) => void this.#peer.ask("show", { play, message }).catch(() => undefined),
      ask: (id, text) => this.#peer.ask("ask", { play, id, text }),
    };
    plays.set(stage, play);
    return (await act(stage)) as Json;
  }
}

function heard(request: Calling): Answering {
  return async (ask, given) => {
    const said = given as { message: string; id: string; text: string };
    if (ask === "ask") return request.ask(said.id, said.text);
    request.show(said.message);
    return undefined;
  };
}

const unasked: Answering = async (ask) => {
  throw new WaybillError(400, `Nobody answers "${ask}" here.`);
};
