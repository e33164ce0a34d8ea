import type { Ask } from "@waybill/agent";
import type { Artifact, Json, Message, UsageRow } from "@waybill/protocol";
import type { Question } from "../waiting-for-answer.ts";

/** One who speaks in a team. */
export interface Member {
  /** Stands with all that it says. */
  readonly name: string;
  /** Read by whoever has to choose among members. */
  readonly description: string;
  speak(turn: Turn): Promise<Spoken>;
}

/** A member's turn. */
export interface Turn {
  /** Names the team's run. */
  readonly run: string;
  /** Names the turn in it: the same when it is taken again. */
  readonly step: string;
  /** All that was said, whole. */
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** Where this member has paused in this turn before. */
  readonly state: Json | undefined;
  readonly answers: ReadonlyMap<string, Json>;
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  progress(event: unknown): void;
  /** Shows what is being said, as it is said. */
  delta(text: string): void;
  /** Gives the answer, or ends the turn until there is one. */
  ask(question: Ask): Promise<Json>;
}

/** What a member has said in its turn. */
export interface Spoken {
  readonly messages: readonly Message[];
  readonly artifacts?: readonly Artifact[] | undefined;
  /** What its turn has used. */
  readonly usage?: readonly UsageRow[] | undefined;
  /** Who is to speak next. */
  readonly handoff?: Handoff | undefined;
  /** What it waits for: the turn is taken again, with its state and the answers. */
  readonly questions?: readonly Question[] | undefined;
  readonly state?: Json | undefined;
}

/** Gives the word to a member, an agent on the hub by its name, or whoever there has a capability. */
export interface Handoff {
  readonly to: string | { readonly capability: string };
}

/** How far a team is. */
export interface Progress {
  /** What the team has added to what it was given. */
  readonly added: readonly Message[];
  /** Who has spoken, turn by turn. */
  readonly speakers: readonly string[];
  /** How the last turn has ended. */
  readonly handoff: Handoff | undefined;
}

/** Who speaks next, where nobody was given the word. */
export type NextSpeaker = (
  members: readonly Member[],
  progress: Progress,
  turn: Omit<Turn, "step" | "state">,
) => Promise<string> | string;

/** Why it is enough; undefined while it is not. */
export type Termination = (progress: Progress) => string | undefined;

/** Members that speak in turn until a condition ends it. */
export interface Team {
  readonly members: readonly Member[];
  readonly next: NextSpeaker;
  readonly until: Termination;
  /** Finds who was given the word and is no member. */
  readonly elsewhere?: ((to: Handoff["to"]) => Promise<Member | undefined>) | undefined;
  /** However it is to end, not later than after so many turns: 32 where it is left out. */
  readonly turnsAtMost?: number | undefined;
}
