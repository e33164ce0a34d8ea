/// <reference types="node" />
import type { Teller } from "./teller.ts";

/** A line of JSON for each event, and the figures in the last one. */
export function jsonTeller(): Teller {
  const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
  return {
    begin: (about) => say({ event: "begun", ...about }),
    tell: ({ at, ...event }) => say({ at: new Date(at).toISOString(), ...event }),
    end({ published, checks, figures }) {
      const { article, job, database } = published;
      say({ event: "published", article, job, database });
      for (const check of checks) say({ event: "checked", ...check });
      say(figures);
    },
  };
}
