import type { Agent } from "@waybill/agent";
import type { CallSession, Offer, PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Capability, CapabilityInput, Json, Message } from "@waybill/protocol";

/** What the author of an adapter passes to the suite: how to use it, in one direction or both. */
export interface AdapterFixture {
  readonly adapter: string;
  readonly serve?: ServeFixture | undefined;
  readonly call?: CallFixture | undefined;
  /** Instead of the two: an adapter in another language, used in both directions. */
  readonly peer?: PeerFixture | undefined;
  /** A module that exports this as `fixture`: loaded by processes that are to be killed. */
  readonly module: URL;
  /** True where its framework starts processes, which takes seconds: a case has as long as one with a peer. */
  readonly startsProcesses?: boolean | undefined;
  /** True where a framework knows speakers by their names alone: to a model, all of a history is a user's. */
  readonly hasNoRoles?: boolean | undefined;
  /** The gaps: what this framework can't do, by the name of the case, each with the reason. */
  readonly gaps?: Readonly<Record<string, string>> | undefined;
}

/**
 * A process that speaks the suite's protocol on its standard input and output. Its agents attach to a
 * served hub by themselves, and its framework plays what the suite prescribes.
 */
export interface PeerFixture {
  readonly command: readonly string[];
  /** As in `ServeFixture`. */
  readonly names?: readonly string[] | undefined;
  /** As in `ServeFixture`. */
  readonly streams?: boolean | undefined;
  readonly cwd: URL;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** The serving side of an adapter, as the suite uses it. */
export interface ServeFixture {
  /** The names of the offered agent and its parts in the framework. */
  readonly names?: readonly string[] | undefined;
  /**
   * True if `show` of a stage is a model's text, piece by piece: it is sent in unsigned deltas. By
   * default it shows milestones, each of which is signed progress.
   */
  readonly streams?: boolean | undefined;
  /** Builds the framework's own agent, with `act` in place of its model or node, and offers it. */
  offer(request: OfferRequest): Offer | Promise<Offer>;
  /**
   * Has the run that plays hand a part of its work off, where only something of the framework can do so:
   * left out, the suite does it from inside the act.
   */
  part?(agent: Agent, stage: Stage, capability: string, input: Json): Promise<Json>;
}

/** What the serving side has to offer in one case. */
export interface OfferRequest {
  readonly capability: CapabilityInput;
  readonly act: Act;
  /** Outlives the process: for what the framework stores. */
  readonly folder: string;
}

/**
 * What the agent does, run inside the framework. The framework may repeat it from its start as often
 * as it likes, with the answers that were given meanwhile.
 */
export type Act = (stage: Stage) => Promise<Played>;

/** What the framework lets the code inside it see and do. */
export interface Stage {
  /**
   * The work as the framework shows it inside: the request to a model, or the arguments of a node, a
   * task or a member. Anything that the adapter passes around the framework does not count.
   */
  readonly work: PortableWork;
  /** The history as code inside can have it, if that is more than what is shown. */
  readonly history?: readonly Message[] | undefined;
  /** The framework's name for this run. */
  readonly run: string;
  readonly traceparent: string | undefined;
  /** The framework's own signal. */
  readonly signal: AbortSignal;
  /** Writes into the framework's own stream. */
  show(message: string): void;
  /** The framework's own interrupt: throws what the framework throws until there is an answer. */
  ask(id: string, text: string): Promise<Json>;
}

/** The result that the agent gives its framework. */
export interface Played {
  readonly output?: Json | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
  /**
   * Serving: the usage that the model reports for the request. Calling: what the framework has counted
   * for the step.
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

/** A conversation as a model is shown it. */
export interface Heard {
  /** The name under which the remote agent speaks in it; undefined if turns have no names. */
  readonly as?: string | undefined;
  /** If turns have no names: the name of the remote agent in the text of its turns. */
  readonly inWords?: string | undefined;
  readonly messages: readonly Message[];
}

/** The calling side of an adapter, as the suite uses it. */
export interface CallFixture {
  /** Runs the framework so that one step of it calls a remote agent, and returns what that step got. */
  run(request: CallRequest): Promise<Played>;
}

/** What the calling side has to do in one case. */
export interface CallRequest {
  readonly agent: Agent;
  /** The called capability, as its manifest has it. */
  readonly capability: Capability;
  /** The named recipient; undefined for any agent with the capability. */
  readonly to: string | undefined;
  /** The framework's name for the run. A run of the same name is the same run, repeated. */
  readonly run: string;
  /** Names the step that calls: a node, a tool call. */
  readonly step: string;
  readonly work: PortableWork;
  readonly timeoutMs: number;
  /** The session option of the node, tool or member; `true`: the session of the run. */
  readonly session: CallSession;
  readonly traceparent: string | undefined;
  /** Stops the framework's run. */
  readonly signal: AbortSignal;
  /** Called for everything in the framework's stream. */
  show(message: string): void;
  /** Answers the framework's questions by its own means. */
  ask(id: string, text: string): Promise<Json>;
  /** Outlives the process: for what the framework stores. */
  readonly folder: string;
}
