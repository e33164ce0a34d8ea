import { mergeUsage, WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message, UsageRow } from "@waybill/protocol";
import { WaitingForAnswer } from "../waiting-for-answer.ts";
import type { Question } from "../waiting-for-answer.ts";
import type { Handoff, Member, Progress, Spoken, Team, Turn } from "./team.ts";

/** The input of a team. */
export interface TeamWork {
  /**
   * Identifies the run. A repeated run with the same id finds the handoffs of its members again.
   */
  readonly run: string;
  readonly messages: readonly Message[];
  readonly artifacts?: readonly Artifact[] | undefined;
  /** Where an earlier run of it has paused: it continues there, with the answers. */
  readonly after?: TeamState | undefined;
  readonly answers?: ReadonlyMap<string, Json> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Called with each message as it is said. */
  readonly onMessage?: ((message: Message) => void) | undefined;
  /** Called with the text of members as it is streamed. */
  readonly onDelta?: ((text: string) => void) | undefined;
  /** Called with what members report while they work. */
  readonly onProgress?: ((event: unknown) => void) | undefined;
  /** Answers questions. By default, the team pauses with them. */
  readonly onQuestion?: Turn["ask"] | undefined;
}

/** The state of a team, as JSON: everything that it needs to continue. */
export interface TeamState {
  readonly added: readonly Message[];
  readonly artifacts: readonly Artifact[];
  readonly speakers: readonly string[];
  /** The usage of the turns so far. */
  readonly usage?: readonly UsageRow[] | undefined;
  readonly handoff?: Handoff | undefined;
  /** The current speaker, and the state of its turn. */
  readonly speaking?: { readonly to: Handoff["to"]; readonly state?: Json | undefined } | undefined;
}

/** The result of a team. */
export interface TeamResult {
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** The usage of its members, with that of remote agents. */
  readonly usage: readonly UsageRow[];
  /** The reason why it ended. Undefined if it waits for answers. */
  readonly stoppedBy: string | undefined;
  /** The questions that it waits for: it continues `after` the state, with `answers`. */
  readonly questions: readonly Question[];
  readonly state: TeamState;
}

const TURNS_AT_MOST = 32;

/** Lets the members of a team speak in turn, until a condition ends it. */
export async function runTeam(team: Team, work: TeamWork): Promise<TeamResult> {
  const { turnsAtMost = TURNS_AT_MOST } = team;
  let state: TeamState = work.after ?? { added: [], artifacts: [], speakers: [] };
  for (;;) {
    work.signal?.throwIfAborted();
    const reason = state.speakers.length === 0 ? undefined : team.until(progressOf(state));
    if (state.speaking === undefined && reason !== undefined) return resultOf(state, reason);
    if (state.speakers.length >= turnsAtMost) throw tooLong(turnsAtMost);
    const to = state.speaking?.to ?? state.handoff?.to ?? (await nextOf(team, work, state));
    const member = await memberOf(team, to);
    const turn = turnOf(work, state);
    const spoken = await heard(member, { ...turn, step: `${turn.step}:${member.name}` });
    state = { ...state, usage: mergeUsage([...(state.usage ?? []), ...(spoken.usage ?? [])]) };
    if (spoken.questions !== undefined && spoken.questions.length > 0) {
      const speaking = { to, state: spoken.state };
      return resultOf({ ...state, speaking }, undefined, spoken.questions);
    }
    for (const message of spoken.messages) work.onMessage?.(message);
    state = {
      added: [...state.added, ...spoken.messages],
      artifacts: [...state.artifacts, ...(spoken.artifacts ?? [])],
      speakers: [...state.speakers, member.name],
      usage: state.usage,
      handoff: spoken.handoff,
    };
  }
}

function resultOf(
  state: TeamState,
  stoppedBy: string | undefined,
  questions: readonly Question[] = [],
): TeamResult {
  const { added: messages, artifacts, usage = [] } = state;
  return { messages, artifacts, usage, stoppedBy, questions, state };
}

async function heard(member: Member, turn: Turn): Promise<Spoken> {
  try {
    return await member.speak(turn);
  } catch (thrown) {
    if (thrown instanceof WaitingForAnswer) return { messages: [], questions: [thrown.question] };
    throw thrown;
  }
}

function turnOf(work: TeamWork, state: TeamState): Turn {
  const { run, answers = new Map<string, Json>(), traceparent, tracestate } = work;
  const step = `turn-${state.speakers.length}`;
  return {
    run,
    step,
    messages: [...work.messages, ...state.added],
    artifacts: [...(work.artifacts ?? []), ...state.artifacts],
    state: state.speaking?.state,
    answers,
    signal: work.signal ?? new AbortController().signal,
    traceparent,
    tracestate,
    progress: (event) => work.onProgress?.(event),
    delta: (text) => work.onDelta?.(text),
    async ask(asked) {
      const id = `${step}/${asked.id ?? "question"}`;
      const answer = answers.get(id);
      if (answer !== undefined) return answer;
      if (work.onQuestion !== undefined) return work.onQuestion(asked);
      throw new WaitingForAnswer({ ...asked, id });
    },
  };
}

async function nextOf(team: Team, work: TeamWork, state: TeamState): Promise<string> {
  return team.next(team.members, progressOf(state), turnOf(work, state));
}

async function memberOf(team: Team, to: Handoff["to"]): Promise<Member> {
  const member = team.members.find(({ name }) => name === to) ?? (await team.elsewhere?.(to));
  if (member !== undefined) return member;
  const who = typeof to === "string" ? to : `an agent with the capability ${to.capability}`;
  throw new WaybillError(
    404,
    `The next turn was given to ${who}, but there is no such member${team.elsewhere ? " and no such agent" : ""}.`,
  );
}

function progressOf({ added, speakers, handoff }: TeamState): Progress {
  return { added, speakers, handoff };
}

function tooLong(turns: number): WaybillError {
  return new WaybillError(
    508,
    `The team has spoken for ${turns} turns without finishing. Raise turnsAtMost, or end it earlier.`,
  );
}
