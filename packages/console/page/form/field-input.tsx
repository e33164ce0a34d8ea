import { Text, visible } from "../parts/text.tsx";
import { draftOf, escaped } from "./draft.ts";
import type { Draft, DraftProblem } from "./draft.ts";
import type { Field, TextFormat } from "./field.ts";

export interface FormContext {
  /** The prefix of the ids of the form's elements. */
  readonly id: string;
  readonly problems: readonly DraftProblem[];
}

interface FieldProps<Kind extends Field["kind"] = Field["kind"]> {
  readonly field: Extract<Field, { readonly kind: Kind }>;
  readonly draft: Draft;
  /** Where it is in the value: a JSON pointer. */
  readonly at: string;
  readonly context: FormContext;
  readonly change: (draft: Draft) => void;
}

/** One field of a form, with what is wrong with it. */
export function FieldInput(props: FieldProps) {
  const { field } = props;
  switch (field.kind) {
    case "group":
      return <Group {...props} field={field} />;
    case "list":
      return <List {...props} field={field} />;
    case "yes or no":
      return <YesOrNo {...props} field={field} />;
    default:
      return <Single {...props} field={field} />;
  }
}

function Single(props: FieldProps<"text" | "number" | "choice" | "json">) {
  const { field, draft, at, context, change } = props;
  const { id, described, message } = marksOf(props);
  const { isRequired } = field;
  const shared = {
    id,
    value: draft as string,
    "aria-describedby": described,
    "aria-invalid": message !== undefined,
    "aria-required": isRequired,
  };
  const typed = (event: { readonly currentTarget: { readonly value: string } }) =>
    change(event.currentTarget.value);
  return (
    <div class="field">
      <label for={id}>
        <Label field={field} />
      </label>
      {field.kind === "choice" ? (
        <select {...shared} onChange={typed}>
          <option value="">{isRequired ? "Choose…" : "Not given"}</option>
          {field.choices.map((choice, index) => (
            <option key={index} value={String(index)}>
              {visible(typeof choice === "string" ? choice : JSON.stringify(choice))}
            </option>
          ))}
        </select>
      ) : field.kind === "json" || (field.kind === "text" && field.isLong) ? (
        <textarea
          {...shared}
          class={field.kind}
          rows={field.kind === "json" ? 5 : 2}
          spellcheck={field.kind === "text"}
          onInput={typed}
        />
      ) : (
        <input
          {...shared}
          type={typeOf(field)}
          inputMode={
            field.kind === "number" ? (field.isInteger ? "numeric" : "decimal") : undefined
          }
          autocomplete="off"
          onInput={typed}
        />
      )}
      <Notes field={field} at={at} context={context} />
    </div>
  );
}

/** Named as one of them: the types of Preact tell inputs apart by a single type. */
function typeOf(field: FieldProps["field"]): "text" {
  return (field.kind === "text" ? TYPES[field.format] : "text") as "text";
}

/** A browser's input for a point in time knows no time zone, so this one is typed. */
const TYPES = {
  "": "text",
  date: "date",
  "date-time": "text",
  email: "email",
  time: "text",
  uri: "url",
} as const satisfies Readonly<Record<TextFormat, string>>;

const HINTS: Readonly<Partial<Record<TextFormat, string>>> = {
  "date-time": "A date and a time with its zone, such as 2026-11-20T09:30:00Z.",
  time: "A time with its zone, such as 09:30:00Z.",
};

/** Neither is chosen at first: an approval must not be given by overlooking it. */
function YesOrNo(props: FieldProps<"yes or no">) {
  const { field, draft, at, context, change } = props;
  const { id, described, message } = marksOf(props);
  const choices = field.isRequired ? ["yes", "no"] : ["yes", "no", ""];
  return (
    <fieldset class="field" aria-describedby={described}>
      <legend>
        <Label field={field} />
      </legend>
      <div class="choices">
        {choices.map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name={id}
              checked={draft === choice}
              aria-invalid={message !== undefined}
              onChange={() => change(choice)}
            />{" "}
            {choice === "" ? "not given" : choice}
          </label>
        ))}
      </div>
      <Notes field={field} at={at} context={context} />
    </fieldset>
  );
}

function Group(props: FieldProps<"group">) {
  const { field, draft, at, context, change } = props;
  const { described } = marksOf(props);
  const drafts = draft as ReadonlyMap<string, Draft>;
  return (
    <fieldset class="field" aria-describedby={described}>
      <legend>
        <Label field={field} />
      </legend>
      <Notes field={field} at={at} context={context} />
      {field.members.map((member) => (
        <FieldInput
          key={member.name}
          field={member}
          draft={drafts.get(member.name)!}
          at={`${at}/${escaped(member.name)}`}
          context={context}
          change={(next) => change(new Map(drafts).set(member.name, next))}
        />
      ))}
    </fieldset>
  );
}

function List(props: FieldProps<"list">) {
  const { field, draft, at, context, change } = props;
  const { described } = marksOf(props);
  const items = draft as readonly Draft[];
  const { item, atMost, label } = field;
  return (
    <fieldset class="field" aria-describedby={described}>
      <legend>
        <Label field={field} />
      </legend>
      <Notes field={field} at={at} context={context} />
      {items.map((each, index) => (
        <div class="item" key={index}>
          <FieldInput
            field={item.label === "" ? { ...item, label: `${label} ${index + 1}` } : item}
            draft={each}
            at={`${at}/${index}`}
            context={context}
            change={(next) => change(items.with(index, next))}
          />
          <button
            type="button"
            aria-label={`Remove ${visible(label)} ${index + 1}`}
            onClick={() => change(items.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={items.length >= atMost}
        aria-label={`Add to ${visible(label)}`}
        onClick={() => change([...items, draftOf(item)])}
      >
        Add
      </button>
    </fieldset>
  );
}

function Label({ field: { label, isRequired } }: { readonly field: Field }) {
  return (
    <>
      <Text value={label} />
      {!isRequired && <small> optional</small>}
    </>
  );
}

/** What helps with a field, and what is wrong with it. */
function Notes({ field, at, context }: Pick<FieldProps, "field" | "at" | "context">) {
  const { id, hint, message } = marksOf({ field, at, context });
  return (
    <>
      {hint !== undefined && (
        <p class="note" id={`${id}-hint`}>
          <Text value={hint} />
        </p>
      )}
      {message !== undefined && (
        <p class="wrong" id={`${id}-wrong`}>
          <span aria-hidden="true">✗</span> {visible(message)}
        </p>
      )}
    </>
  );
}

function marksOf({ field, at, context }: Pick<FieldProps, "field" | "at" | "context">) {
  // An id must not have spaces, and names come from strangers.
  const id = `${context.id}${encodeURIComponent(at.toWellFormed())}`;
  const format = field.kind === "text" ? HINTS[field.format] : undefined;
  const hint =
    [field.description, format].filter((each) => each !== undefined).join(" ") || undefined;
  const messages = context.problems.filter((each) => each.at === at).map((each) => each.message);
  const message = messages.length === 0 ? undefined : messages.join(" ");
  const described =
    [hint && `${id}-hint`, message && `${id}-wrong`].filter(Boolean).join(" ") || undefined;
  return { id, hint, message, described };
}
