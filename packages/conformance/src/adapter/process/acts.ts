import type { Act } from "../fixture.ts";

/** What an agent does in a process of its own; `tell` reaches the suite. */
export const ACTS: {
  readonly [Name in "hang" | "finish" | "ask"]: (tell: (news: string) => void) => Act;
} = {
  hang: (tell) => () => {
    tell("started");
    return new Promise<never>(() => undefined);
  },
  finish: () => async () => ({ output: { summary: "finished" } }),
  ask:
    () =>
    async ({ ask }) => ({
      output: { summary: `To ${(await ask("town", "Which town?")) as string}` },
    }),
};

export type ActName = keyof typeof ACTS;
