import type { EventName } from "../story/event.ts";

export interface Scene {
  readonly title: string;
  readonly begins: (event: EventName, says: string) => boolean;
}

/** The parts of the story, in order. */
export const SCENES: readonly Scene[] = [
  { title: "Everybody comes in", begins: (event) => event === "joined" },
  {
    title: "The story is ordered",
    begins: (event, says) => event === "handed_off" && says.includes("story"),
  },
  {
    title: "Ten questions go out",
    begins: (event, says) => event === "handed_off" && says.includes("question"),
  },
  {
    title: "The article",
    begins: (event, says) => event === "handed_off" && says.includes("article"),
  },
];
