export type Name = "editor" | "anna" | "bea" | "carl" | "desk" | "checker" | "mallory";

/** Who works in the newsroom: each of them is a process of its own. */
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

/** Who is killed in the middle of a question. */
export const VICTIM: Name = "bea";

/** Who sends forged results. */
export const IMPOSTER: Name = "mallory";

/** Who orders the story and answers questions: the one at the terminal. */
export const PUBLISHER = "publisher";

/** What somebody is made with; nothing for who is no part of the staff. */
export function frameworkOf(who: string): string | undefined {
  return NAMES.includes(who as Name) ? STAFF[who as Name].framework : undefined;
}
