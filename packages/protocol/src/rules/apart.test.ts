import { expect, test } from "vitest";
import { jobOf } from "../audit.ts";

const root = (delegator: string, ...parties: string[]) => ({
  delegator,
  parties: new Set(parties),
});

test("WB-132 a root whose delegator takes part in nothing of a job stands apart from it", () => {
  const editor = root("editor", "anna");
  const stranger = root("stranger", "bert");
  expect(jobOf([editor, stranger])).toEqual({ job: [editor], apart: [stranger] });
  // Being named by a stranger makes an agent no participant of the job, nor the stranger.
  const again = root("stranger", "editor");
  const more = root("editor", "bert");
  const all = [editor, stranger, again, more];
  expect(jobOf(all)).toEqual({ job: [editor, more], apart: [stranger, again] });
});

test("WB-132 an agent that was asked in a job may begin more of it", () => {
  const editor = root("editor", "anna");
  const anna = root("anna", "bert");
  const bert = root("bert");
  expect(jobOf([editor, anna, bert])).toEqual({ job: [editor, anna, bert], apart: [] });
  expect(jobOf([editor, bert, anna])).toEqual({ job: [editor, anna], apart: [bert] });
});

test("WB-132 the first root of a correlation id does not draw others into its job", () => {
  const stranger = root("stranger");
  const editor = root("editor", "anna");
  expect(jobOf([stranger, editor])).toEqual({ job: [stranger], apart: [editor] });
});
