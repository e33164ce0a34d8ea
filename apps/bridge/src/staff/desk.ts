import { converse } from "@waybill/adapter-conversation";
import { remotesOn, localMember, serveCrew } from "@waybill/adapter-crew";
import type { Assignment, Crew } from "@waybill/adapter-crew";
import { conversationOf } from "@waybill/agent/adapter";
import { join, seat } from "./join.ts";
import { modelClient } from "./model.ts";

const WRITER = {
  client: modelClient(),
  model: seat.model.name,
  name: "writer",
  instructions: "You write for a newspaper: plainly, and only what you were told is so.",
};

await join((agent, hub) => {
  const writer = localMember({
    role: "writer",
    goal: "Writes what people like to read.",
    async run({ brief, run, step, signal }: Assignment) {
      const messages = conversationOf({ brief });
      return (await converse(WRITER, { run: `${run}/${step}`, messages, signal })).text;
    },
  });
  const publisher = localMember({
    role: "publisher",
    goal: "Says under whose name something is printed.",
    run: ({ ask }) => ask({ id: "name", text: "Under whose name shall it be printed?" }),
  });
  const crew: Crew = {
    members: [writer, publisher],
    // Any agent on the hub that checks facts, in another crew and another process.
    elsewhere: remotesOn(agent, hub),
    tasks: [
      {
        name: "headline",
        description: "Find a headline for the article.",
        expectedOutput: "One headline, and nothing else.",
        member: "writer",
        isAsync: true,
      },
      {
        name: "check",
        description: "Say whether these findings can be printed.",
        expectedOutput: "One sentence.",
        member: { capability: "fact_check" },
        isAsync: true,
      },
      {
        name: "name",
        description: "Say under whose name it is printed.",
        expectedOutput: "A name.",
        member: "publisher",
      },
      {
        name: "article",
        description: "Write the article, under that headline and that name.",
        expectedOutput: "The headline, the name in a line of its own, and one paragraph.",
        member: "writer",
      },
    ],
  };
  agent.serve(
    ...serveCrew(crew, {
      name: "write_article",
      description: "Writes an article of what it is given.",
      takes: "delegation",
      lease_seconds: 10,
      effects: "none",
    }),
  );
});
