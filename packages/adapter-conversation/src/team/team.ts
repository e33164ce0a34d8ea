import type { Ask } from "@waybill/agent";
import type { Artifact, Json, Message, UsageRow } from "@waybill/protocol";
import type { Question } from "../waiting-for-answer.ts";

/** A speaker in a team. */
export interface Member {
  /** The author of all that it says. */
  readonly name: string;
  /** For choosing among members. */
  readonly description: string;
  speak(turn: Turn): Promise<Spoken>;
}

/** A member's turn. */
export interface Turn {
  /** Identifies the team's run. */
  readonly run: string;
  /** Identifies the turn in the run, also when it is repeated. */
  readonly step: string;
  /** Everything that was said, unabridged. */
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** The state with which this member has paused in this turn. */
  readonly state: Json | undefined;
  readonly answers: ReadonlyMap<string, Json>;
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  progress(event: unknown): void;
  /** Shows text while it is written. */
  delta(text: string): void;
  /** Returns the answer, or ends the turn until there is one. */
  ask(question: Ask): Promise<Json>;
}

/** What a member has said in its turn. */
export interface Spoken {
  readonly messages: readonly Message[];
  readonly artifacts?: readonly Artifact[] | undefined;
  /** The usage of its turn. */
  readonly usage?: readonly UsageRow[] | undefined;
  /** The next speaker. */
  readonly handoff?: Handoff | undefined;
  /** The questions that it waits for: the turn is repeated with its state and the answers. */
  readonly questions?: readonly Question[] | undefined;
  readonly state?: Json | undefined;
}

/** The next speaker: a member, an agent on the hub by its name, or any agent with a capability. */
export interface Handoff {
  readonly to: string | { readonly capability: string };
}

/** The progress of a team. */
export interface Progress {
  /** The messages that the team has added to its input. */
  readonly added: readonly Message[];
  /** The speakers, turn by turn. */
  readonly speakers: readonly string[];
  /** The handoff at the end of the last turn. */
  readonly handoff: Handoff | undefined;
}

/** Chooses the next speaker if the last one did not. */
export type NextSpeaker = (
  members: readonly Member[],
  progress: Progress,
  turn: Omit<Turn, "step" | "state">,
) => Promise<string> | string;

/** The reason to end; undefined as long as there is none. */
export type Termination = (progress: Progress) => string | undefined;

/** Members that speak in turn until a condition ends it. */
export interface Team {
  readonly members: readonly Member[];
  readonly next: NextSpeaker;
  readonly until: Termination;
  /** Finds a target of a handoff that is not a member. */
  readonly elsewhere?: ((to: Handoff["to"]) => Promise<Member | undefined>) | undefined;
  /** The maximum number of turns, whatever the condition says, by default 32. */
  readonly turnsAtMost?: number | undefined;
}
