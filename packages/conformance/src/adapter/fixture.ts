import type { Agent } from "@waybill/agent";
import type { CallSession, Offer, PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Capability, CapabilityInput, Json, Message } from "@waybill/protocol";

/** What the author of an adapter gives the suite: how to use it, in both directions or in one. */
export interface AdapterFixture {
  readonly adapter: string;
  readonly serve?: ServeFixture | undefined;
  readonly call?: CallFixture | undefined;
  /** Instead of the two: an adapter in another language, used in both directions. */
  readonly peer?: PeerFixture | undefined;
  /** A module that exports this as `fixture`: a process that is to be killed loads it. */
  readonly module: URL;
  /** True where its framework starts processes, which takes seconds: a case has as long as one with a peer. */
  readonly startsProcesses?: boolean | undefined;
  /** True where a framework knows speakers by their names alone: to a model, all of a history is a user's. */
  readonly hasNoRoles?: boolean | undefined;
  /** What this framework can't do, by the name of the case, each with the reason. */
  readonly gaps?: Readonly<Record<string, string>> | undefined;
}

/**
 * A process that speaks the suite's lines on its standard input and output: its agents attach to a
 * served hub by themselves, and its framework plays what the suite tells it to.
 */
export interface PeerFixture {
  readonly command: readonly string[];
  /** As `ServeFixture` has them. */
  readonly names?: readonly string[] | undefined;
  /** As `ServeFixture` has it. */
  readonly streams?: boolean | undefined;
  readonly cwd: URL;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The serving side of an adapter, as the suite drives it. */
export interface ServeFixture {
  /** What the thing that it offers and its parts are called in the framework. */
  readonly names?: readonly string[] | undefined;
  /**
   * True where `show` of a stage is what a model writes, piece by piece: it goes out in deltas, which
   * nobody signs. Left out, it shows milestones, each of which is signed progress.
   */
  readonly streams?: boolean | undefined;
  /** Makes the framework's own thing, with `act` where its model or its node would be, and offers it. */
  offer(request: OfferRequest): Offer | Promise<Offer>;
  /**
   * Has the run that plays hand a part of its work off, where only something of the framework can do so:
   * left out, the suite does it from inside the act.
   */
  part?(agent: Agent, stage: Stage, capability: string, input: Json): Promise<Json>;
}

/** What the serving side is to offer in one case. */
export interface OfferRequest {
  readonly capability: CapabilityInput;
  readonly act: Act;
  /** Outlives the process: for what the framework stores. */
  readonly folder: string;
}

/**
 * What the thing does, run inside the framework. It may be run again from its start, with the answers
 * that were given meanwhile, as often as the framework likes.
 */
export type Act = (stage: Stage) => Promise<Played>;

/** What the framework lets its inside see and do. */
export interface Stage {
  /**
   * The work as the framework shows it to what is inside: the request that a model gets, or the
   * arguments of a node, a task or a member. Nothing that the adapter carries along beside it counts.
   */
  readonly work: PortableWork;
  /** The history as code inside can have it, where that is more than what is shown. */
  readonly history?: readonly Message[] | undefined;
  /** What the framework calls this run. */
  readonly run: string;
  readonly traceparent: string | undefined;
  /** The framework's own signal. */
  readonly signal: AbortSignal;
  /** Into the framework's own stream. */
  show(message: string): void;
  /** The framework's own interrupt: throws what the framework throws until there is an answer. */
  ask(id: string, text: string): Promise<Json>;
}

/** What the thing gives its framework as its result. */
export interface Played {
  readonly output?: Json | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
  /**
   * Serving: what the model reports of the request that this is the answer to. Calling: what the
   * framework has counted for the step.
   */
  readonly usage?: PlayedUsage | undefined;
  /** On the calling side: what the framework's next model would be told of the result. */
  readonly heard?: Heard | undefined;
}

/** Tokens, as every framework counts them. */
export interface PlayedUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** A conversation as a model is told it. */
export interface Heard {
  /** The name under which the remote agent speaks in it; left out where a turn has no names. */
  readonly as?: string | undefined;
  /** Where a turn has no names: what the remote agent is called in the words of its turns. */
  readonly inWords?: string | undefined;
  readonly messages: readonly Message[];
}

/** The calling side of an adapter, as the suite drives it. */
export interface CallFixture {
  /** Runs the framework so that one step of it calls a remote agent, and gives what that step got. */
  run(request: CallRequest): Promise<Played>;
}

/** What the calling side is to do in one case. */
export interface CallRequest {
  readonly agent: Agent;
  /** What is called, as its manifest has it. */
  readonly capability: Capability;
  /** The agent it goes to; left out, whoever has the capability. */
  readonly to: string | undefined;
  /** The framework's name for the run. A run of the same name is the same run, started anew. */
  readonly run: string;
  /** Names the step that calls: a node, a tool call. */
  readonly step: string;
  readonly work: PortableWork;
  readonly timeoutMs: number;
  /** The option of that name of the node, tool or member; `true`: that of the run. */
  readonly session: CallSession;
  readonly traceparent: string | undefined;
  /** Stops the framework's run. */
  readonly signal: AbortSignal;
  /** Hears of what comes out of the framework's stream. */
  show(message: string): void;
  /** Answers what the framework asks by its own means. */
  ask(id: string, text: string): Promise<Json>;
  /** Outlives the process: for what the framework stores. */
  readonly folder: string;
}
