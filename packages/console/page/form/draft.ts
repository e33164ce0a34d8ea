import { compileSchema } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { isObject } from "./field.ts";
import type { Field } from "./field.ts";

/** What stands in a form: texts as they were typed, in the shape of its fields. */
export type Draft = string | readonly Draft[] | ReadonlyMap<string, Draft>;

/** What is wrong, and in which field: `at` is a JSON pointer. */
export interface DraftProblem {
  readonly at: string;
  readonly message: string;
}

/** The draft of a value, or of nothing yet. */
export function draftOf(field: Field, value?: Json): Draft {
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? value : "";
    case "number":
      return typeof value === "number" ? String(value) : "";
    case "yes or no":
      return value === true ? "yes" : value === false ? "no" : "";
    case "choice": {
      const index = field.choices.findIndex((each) => isSame(each, value));
      return index === -1 ? "" : String(index);
    }
    case "list":
      return Array.isArray(value) ? value.map((each) => draftOf(field.item, each)) : [];
    case "group": {
      const given: { readonly [name: string]: unknown } = isObject(value) ? value : {};
      return new Map(
        field.members.map((member) => [
          member.name,
          draftOf(
            member,
            Object.hasOwn(given, member.name) ? (given[member.name] as Json) : undefined,
          ),
        ]),
      );
    }
    case "json":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
  }
}

/** Whether the form can hold a value without losing any of it. More may be missing from it. */
export function canHold(field: Field, value: Json): boolean {
  return isSame(valueOf(field, draftOf(field, value)).value, value);
}

/** The value that a draft stands for, and what keeps it from being one. */
export interface DraftValue {
  readonly value: Json | undefined;
  readonly problems: readonly DraftProblem[];
}

/** Reads a draft by its fields alone. */
export function valueOf(field: Field, draft: Draft, at = ""): DraftValue {
  if (isBlank(field, draft) && field.kind !== "group" && field.kind !== "list") {
    if (!field.isRequired) return { value: undefined, problems: [] };
    if (field.isNullable) return { value: null, problems: [] };
    return { value: undefined, problems: [{ at, message: EMPTY[field.kind] }] };
  }
  switch (field.kind) {
    case "text":
      return { value: draft as string, problems: [] };
    case "yes or no":
      return { value: draft === "yes", problems: [] };
    case "choice":
      return { value: field.choices[Number(draft)], problems: [] };
    case "number":
      return numberOf(draft as string, field.isInteger, at);
    case "json":
      return jsonOf(draft as string, at);
    case "list": {
      const items = draft as readonly Draft[];
      if (items.length === 0 && !field.isRequired) return { value: undefined, problems: [] };
      const read = items.map((each, index) => valueOf(field.item, each, `${at}/${index}`));
      return {
        value: read.map(({ value }) => value ?? null),
        problems: read.flatMap(({ problems }) => problems),
      };
    }
    case "group": {
      if (isBlank(field, draft) && !field.isRequired) return { value: undefined, problems: [] };
      const drafts = draft as ReadonlyMap<string, Draft>;
      const read = field.members.map((member) => ({
        name: member.name,
        ...valueOf(member, drafts.get(member.name)!, `${at}/${escaped(member.name)}`),
      }));
      return {
        value: Object.fromEntries(
          read.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
        ),
        problems: read.flatMap(({ problems }) => problems),
      };
    }
  }
}

const EMPTY = {
  text: "Enter a text: this is required.",
  number: "Enter a number: this is required.",
  "yes or no": "Choose yes or no: this is required.",
  choice: "Choose one: this is required.",
  json: "Enter JSON: this is required.",
} as const;

function numberOf(text: string, isInteger: boolean, at: string): DraftValue {
  const value = Number(text);
  // A whole number that is too large for a browser would be sent as another one.
  if (isInteger ? Number.isSafeInteger(value) : Number.isFinite(value)) {
    return { value, problems: [] };
  }
  const wanted = isInteger ? "a whole number, such as 12" : "a number, such as 1.5";
  return { value: undefined, problems: [{ at, message: `Enter ${wanted}.` }] };
}

/** Reads JSON that somebody typed. */
export function jsonOf(text: string, at = ""): DraftValue {
  try {
    return { value: JSON.parse(text) as Json, problems: [] };
  } catch (error) {
    const message = `This is not JSON: ${(error as Error).message}. A text needs quotes: "like this".`;
    return { value: undefined, problems: [{ at, message }] };
  }
}

/** Whether nothing was entered. */
function isBlank(field: Field, draft: Draft): boolean {
  if (typeof draft === "string") return draft.trim() === "";
  if (field.kind === "group") {
    const drafts = draft as ReadonlyMap<string, Draft>;
    return field.members.every((member) => isBlank(member, drafts.get(member.name)!));
  }
  return (draft as readonly Draft[]).length === 0;
}

/** Checks a value against its schema; each problem is at the field that shows it. */
export function problemsOf(
  schema: unknown,
  { field, draft, value }: { readonly field: Field; readonly draft: Draft; readonly value: Json },
): readonly DraftProblem[] {
  return compileSchema(schema)
    .check(value)
    .map(({ at, message }) => ({ at: shownAt(field, draft, at), message: sentence(message) }));
}

/** The field that shows what is at a pointer: its own, or the nearest one around it. */
function shownAt(field: Field, draft: Draft, pointer: string): string {
  let [current, content, at] = [field, draft, ""];
  for (const step of pointer.split("/").slice(1)) {
    if (current.kind === "group") {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      const member = current.members.find((each) => each.name === name);
      if (member === undefined) break;
      content = (content as ReadonlyMap<string, Draft>).get(name)!;
      current = member;
    } else if (current.kind === "list") {
      const item = (content as readonly Draft[])[Number(step)];
      if (item === undefined) break;
      [current, content] = [current.item, item];
    } else break;
    at += `/${step}`;
  }
  return at;
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** A member's name as a step of a JSON pointer. */
export function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, index) => isSame(each, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}
