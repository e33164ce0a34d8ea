import {
  anyOf,
  afterTurns,
  conversationMember,
  remotesOn,
  remoteMember,
  roundRobin,
  runTeam,
  whenSaid,
} from "@waybill/adapter-conversation/team";
import { createAgent } from "@waybill/agent";
import { textMessage, textOf } from "@waybill/agent/adapter";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

const model = await startScriptedModel([
  { text: "Rain is water that falls." },
  { text: "It falls from clouds.", calls: [{ name: "transfer_to_translate", arguments: {} }] },
]);
const client = new OpenAI({ apiKey: "none", baseURL: model.url });

// Two agents on the hub: one is a member of the team, the other is found by its capability.
const helpers = Object.entries({
  critique: "From where does it fall?",
  translate: "Det fell frå skyene. DONE",
}).map(([name, words]) => {
  const helper = agent(`${name}-1`);
  helper.serve({ name, takes: "conversation" }, () => words);
  return helper;
});
await Promise.all(helpers.map((helper) => helper.start()));

const newsroom = agent("newsroom");
const { capability } = (await hub.find({ capability: "critique" })).fits.at(0)!;
const { messages, stoppedBy } = await runTeam(
  {
    members: [
      conversationMember(
        { client, model: "gpt-5", name: "writer", instructions: "You write." },
        { description: "Writes the article.", handoffs: [{ capability: "translate" }] },
      ),
      remoteMember(newsroom, capability),
    ],
    next: roundRobin(),
    until: anyOf(whenSaid("DONE"), afterTurns(10)),
    elsewhere: remotesOn(newsroom, hub),
  },
  { run: "article-1", messages: [textMessage("user", "An article about rain.")] },
);
for (const message of messages.filter(({ role }) => role !== "tool"))
  console.log(`${message.name}: ${textOf(message)}`);
// writer: Rain is water that falls.
// critique: From where does it fall?
// writer: It falls from clouds.
// translate: Det fell frå skyene. DONE
console.log(stoppedBy); // "DONE" was said

await Promise.all([...helpers, newsroom].map((each) => each.stop()));
await Promise.all([hub.close(), model.close()]);
