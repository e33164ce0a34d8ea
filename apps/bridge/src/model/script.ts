/// <reference types="node" />
import { setTimeout } from "node:timers/promises";
import type { ModelRequest, Turn } from "@waybill/scripted-model";
import { indexOfQuestion, QUESTIONS } from "../story/questions.ts";

interface Line {
  /** The agent that asks the model, and a pattern that its request contains. */
  readonly asker: string;
  readonly asked: RegExp;
  readonly said: (request: string) => string;
}

const HEADLINE = "Signed for: four thousand years of getting things delivered";

/** The model's replies to the desk and to the checker. */
const LINES: readonly Line[] = [
  {
    asker: "checker",
    asked: /can be printed/,
    said: () => "All ten agree with the sources at hand.",
  },
  { asker: "desk", asked: /Find a headline/, said: () => HEADLINE },
  { asker: "desk", asked: /Write the article/, said: articleFor },
];

/** The reply of the newsroom's model if no real one is used. */
export function scriptedTurn({ body, headers, signal }: ModelRequest): Turn {
  const asker = String(headers["x-agent"]);
  const request = askedIn(body as PlayedRequest);
  const line = LINES.find((each) => each.asker === asker && each.asked.test(request));
  if (line !== undefined) return { text: spoken(line.said(request), signal) };
  const answer = QUESTIONS[indexOfQuestion(request) ?? -1]?.answer;
  if (answer === undefined) throw new Error(`The script has no line for what ${asker} asks.`);
  return { text: spoken(JSON.stringify({ answer }), signal) };
}

/** Signed with the name that the publisher has given, which the writer's request contains. */
function articleFor(request: string): string {
  return [HEADLINE, nameIn(request), PARAGRAPH].join("\n");
}

const PARAGRAPH =
  "Around 1750 BC a customer pressed his anger into clay: the copper that Ea-nasir had sent was bad. " +
  "What he lacked was a paper that travels with the goods. The waybill came much later, the bill of " +
  "lading made such a paper worth the cargo, and since 1956 the trucks of Europe carry the same note " +
  "in three originals, one of them with the freight. Whoever signs for something can be asked about it.";

function nameIn(request: string): string {
  const [, name = '"nobody"'] = NAME.exec(request) ?? [];
  return `By ${JSON.parse(name) as string}`;
}

/** The result of the task `name`, as a member receives it: a line of JSON. */
const NAME = /What the task name has come to:[^"]*\n("[^\n]*")/;

interface PlayedRequest {
  readonly messages: readonly {
    readonly content: string | readonly { readonly text?: string }[];
  }[];
}

function askedIn({ messages }: PlayedRequest): string {
  const content = messages.at(-1)?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}

const PIECE = 12;
/** About as fast as a real model, so that people can read along. */
const PIECE_MS = 60;

async function* spoken(words: string, signal: AbortSignal): AsyncGenerator<string> {
  for (let at = 0; at < words.length; at += PIECE) {
    yield words.slice(at, at + PIECE);
    await setTimeout(PIECE_MS, undefined, { signal });
  }
}
