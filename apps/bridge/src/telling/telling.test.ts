import { expect, test } from "vitest";
import type { StoryEvent } from "../story/event.ts";
import { Bursts } from "./bursts.ts";
import { pictureOf } from "./picture.ts";
import { paintFor } from "./style.ts";
import { waterfall } from "./waterfall.ts";

const event = (rest: Partial<StoryEvent>): StoryEvent => ({
  at: 0,
  who: "editor",
  event: "handed_off",
  says: `hands off ${rest.about}`,
  tone: "step",
  ...rest,
});

test("events of ten questions at once become one line, before the next event", () => {
  const said: string[] = [];
  const bursts = new Bursts(({ who, says }) => said.push(`${who} ${says}`));
  for (const number of [1, 2, 10]) bursts.take(event({ about: `question ${number}` }));
  bursts.take(event({ who: "anna", event: "offered", says: "offers it, attempt 1" }));
  bursts.take(event({ who: "bea", event: "killed", says: "is killed", about: "question 2" }));
  expect(said).toEqual(["editor hands off questions 1, 2, 10", "bea is killed"]);
});

test("a bar shows who worked on it, who was lost, and how it ended", () => {
  const about = "question 3";
  const handoff_id = "3";
  const rows = waterfall(
    [
      event({ about, handoff_id, at: 0 }),
      event({ event: "offered", about, handoff_id, at: 0, to: "bea" }),
      event({ event: "lease_lost", about, handoff_id, at: 3000 }),
      event({ event: "offered", about, handoff_id, at: 4000, to: "carl" }),
      event({ event: "result", about, handoff_id, at: 10_000, tone: "good", who: "carl" }),
    ],
    60,
    (text) => text,
  );
  expect(rows).toEqual([expect.stringMatching(/^question 3 → bea, carl +╳+·+━+ ✔ 10\.0 s$/)]);
});

test("colours are only for terminals, and can be turned off", () => {
  const painted = (isTTY: boolean, environment: NodeJS.ProcessEnv) =>
    paintFor({ isTTY } as NodeJS.WriteStream, environment)("red", "red") !== "red";
  expect(painted(true, {})).toBe(true);
  expect(painted(false, {})).toBe(false);
  expect(painted(true, { NO_COLOR: "1" })).toBe(false);
  expect(painted(true, { TERM: "dumb" })).toBe(false);
  expect(painted(false, { FORCE_COLOR: "1" })).toBe(true);
});

test("a picture has the words at their columns, and escapes everything that looks like a tag", () => {
  const picture = pictureOf("a \u001b[32m<b>\u001b[39m   c & d\n");
  expect(picture).toMatch(/^<svg [^>]+>\n<rect [^>]+>\n<g [^>]+>\n.*\n<\/g><\/svg>\n$/);
  const columns = [...picture.matchAll(/<text x="([\d.]+)"[^>]*>([^<]+)</g)];
  expect(columns.map(([, , words]) => words)).toEqual(["a", "&lt;b&gt;", "c &amp; d"]);
  const [a, b, c] = columns.map(([, x]) => Number(x)) as [number, number, number];
  expect((c - a) / (b - a)).toBeCloseTo(4, 1);
  expect(picture).toContain('style="fill:#56d364">&lt;b&gt;');
});
