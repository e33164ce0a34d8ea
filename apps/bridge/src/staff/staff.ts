export type Name = "editor" | "anna" | "bea" | "carl" | "desk" | "checker" | "mallory";

/** The newsroom's agents, each of which is a process. */
export const STAFF: Readonly<Record<Name, { file: string; framework: string }>> = {
  editor: { file: "editor.ts", framework: "LangGraph" },
  anna: { file: "researcher.ts", framework: "conversation" },
  bea: { file: "researcher.ts", framework: "conversation" },
  carl: { file: "researcher.ts", framework: "conversation" },
  desk: { file: "desk.ts", framework: "crew" },
  checker: { file: "checker.ts", framework: "conversation" },
  mallory: { file: "imposter.ts", framework: "imposter" },
};

export const NAMES = Object.keys(STAFF) as Name[];

/** Killed in the middle of a question. */
export const VICTIM: Name = "bea";

/** Sends forged results. */
export const IMPOSTER: Name = "mallory";

/** Orders the story and answers questions: the person at the terminal. */
export const PUBLISHER = "publisher";

/** The framework of an agent; undefined if it is not part of the staff. */
export function frameworkOf(who: string): string | undefined {
  return NAMES.includes(who as Name) ? STAFF[who as Name].framework : undefined;
}
