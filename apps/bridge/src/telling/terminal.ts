/// <reference types="node" />
import { dirname } from "node:path";
import { frameworkOf, NAMES, PUBLISHER } from "../staff/staff.ts";
import type { StoryEvent } from "../story/event.ts";
import { Bursts } from "./bursts.ts";
import { shortened, wrapped } from "./lines.ts";
import { SCENES } from "./scenes.ts";
import type { Color, Paint } from "./style.ts";
import type { Ending, Teller } from "./teller.ts";
import { waterfall } from "./waterfall.ts";

const WIDTH_MAX = 100;
const WIDTH_MIN = 60;
const WHO_WIDTH = 10;
const TIME_WIDTH = 6;

/** The colour of each framework. */
const COLORS: Readonly<Record<string, Color>> = {
  LangGraph: "cyan",
  conversation: "blue",
  crew: "magenta",
  imposter: "red",
};

const TONES: Readonly<Record<StoryEvent["tone"], Color>> = {
  step: "reset",
  good: "green",
  bad: "red",
  warning: "yellow",
};

/** The story as a timeline, printed line by line as it happens. */
export function terminalTeller(
  out: NodeJS.WriteStream,
  paint: Paint,
  startedAt: number,
): Teller & { readonly prompt: (question: string) => string } {
  const width = Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, out.columns || WIDTH_MAX));
  const say = (text = "") => void out.write(`${text}\n`);
  const title = (text: string) => say(`\n  ${paint(text.toUpperCase(), "bold")}`);
  const scenes = [...SCENES];

  const line = ({ at, who, says, tone, event, is_signed, has_receipt }: StoryEvent) => {
    const opening = scenes.findIndex(({ begins }) => begins(event, says));
    if (opening !== -1) title(scenes.splice(0, opening + 1).at(-1)!.title);
    const time = ((at - startedAt) / 1000).toFixed(2).padStart(TIME_WIDTH);
    const marks = `${is_signed ? paint("✔", "green") : " "}${has_receipt ? paint("●", "green") : " "}`;
    const [firstLine = ""] = says.split("\n");
    const text = shortened(firstLine, width - TIME_WIDTH - WHO_WIDTH - 7);
    const colored = tone === "step" ? text : paint(text, TONES[tone]);
    say(`${paint(time, "dim")}  ${named(who, paint)} ${marks}  ${colored}`);
  };
  const bursts = new Bursts(line);

  return {
    begin({ folder, model }) {
      const processes = NAMES.length + [PUBLISHER, "hub"].length;
      say();
      say(`  ${paint("WAYBILL", "bold")} · a newsroom of ${processes} processes, one job`);
      say();
      for (const text of wrapped(
        `A LangGraph editor, conversation agents, a crew, and somebody who lies. The model is ${model}. ` +
          "What follows is read off the hub's ledger while it is written.",
        width - 4,
      ))
        say(`  ${paint(text, "dim")}`);
      say(
        `  ${paint("✔", "green")} ${paint("signed by who stands before it, checked here", "dim")}`,
      );
      say(
        `  ${paint("●", "green")} ${paint(`on disk, and the hub has signed a receipt for it (${folder})`, "dim")}`,
      );
    },
    tell: (event) => bursts.take(event),
    prompt(question) {
      bursts.flush();
      return `\n  ${paint("?", "yellow", "bold")} ${paint(question, "bold")} ${paint("(20 seconds, then the demo answers)", "dim")}\n  › `;
    },
    end(ending) {
      const { published, events, checks, figures } = ending;
      bursts.flush();
      title("What was published");
      say();
      for (const text of wrapped(published.article, width - 6))
        say(`  ${paint("│", "dim")} ${text}`);
      title("Who did what");
      say();
      for (const row of waterfall(events, width - 4, paint)) say(`  ${row}`);
      say();
      say(
        `  ${paint(`━ at work   ╳ killed, or out of time   ? a person is asked   · waits`, "dim")}`,
      );
      title("The proof");
      say();
      for (const { holds, says } of checks) {
        const sign = holds ? paint("✔", "green") : paint("✗", "red", "bold");
        for (const [index, text] of wrapped(says, width - 6).entries())
          say(`  ${index === 0 ? sign : " "} ${text}`);
      }
      say();
      say(
        `  ${paint(`Done in ${figures.seconds} s.`, "bold")} All of it is still there. Open the hub again, and look around:`,
      );
      say();
      for (const [command, says] of commandsFor(ending)) {
        say(`    ${paint(command, "cyan")}`);
        say(`    ${paint(`  ${says}`, "dim")}`);
      }
      say();
    },
  };
}

function commandsFor({ published, events }: Ending): readonly (readonly [string, string])[] {
  const { database, job } = published;
  const where = `--data ${dirname(database)}`;
  const missed = events.find(({ event }) => event === "dead_lettered")?.handoff_id;
  return [
    [`npm run waybill -- dev ${where}`, "the hub, over the same file; and in another terminal:"],
    [`npm run waybill -- trace ${job} ${where}`, "the whole job, every signature checked"],
    [
      `npm run waybill -- dead-letters show ${missed} ${where}`,
      "the question that missed its deadline, with all that is known of it",
    ],
  ];
}

function named(who: string, paint: Paint): string {
  const color = COLORS[frameworkOf(who) ?? ""];
  const name = shortened(who, WHO_WIDTH).padEnd(WHO_WIDTH);
  if (who === PUBLISHER) return paint(name, "yellow");
  return color === undefined ? paint(name, "dim") : paint(name, color);
}
