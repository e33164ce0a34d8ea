import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { visible } from "../parts/text.tsx";
import { canHold, draftOf, jsonOf, problemsOf, valueOf } from "./draft.ts";
import type { Draft, DraftProblem } from "./draft.ts";
import { fieldOf } from "./field.ts";
import { FieldInput } from "./field-input.tsx";
import type { FormContext } from "./field-input.tsx";

export interface SchemaFormProps {
  /** A JSON Schema from anybody. A form for another one needs another `key`. */
  readonly schema: unknown;
  /** What the whole value is. */
  readonly label: string;
  /** What stands in the form at first. */
  readonly initial?: Json | undefined;
  /** What the button says. */
  readonly submit: string;
  /** Called with a value that fits the schema; a rejection is shown in the form. */
  readonly send: (value: Json) => Promise<void>;
  /** More fields and buttons, before the button. */
  readonly children?: ComponentChildren;
}

/** A form made from a JSON Schema, which can also be filled in as JSON. */
export function SchemaForm({ schema, label, initial, submit, send, children }: SchemaFormProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [field] = useState(() => fieldOf(schema, label));
  const [draft, setDraft] = useState<Draft>(() => draftOf(field, initial));
  // What the fields can't hold whole is edited as JSON, so that nothing of it is lost.
  const isHeld = initial === undefined || canHold(field, initial);
  const [json, setJson] = useState<string | undefined>(() =>
    isHeld ? undefined : pretty(initial),
  );
  const [problems, setProblems] = useState<readonly DraftProblem[]>([]);
  const [refusal, setRefusal] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [tries]);

  const submitted = async () => {
    setRefusal(undefined);
    const read = json === undefined ? valueOf(field, draft) : jsonOf(json);
    try {
      const { value } = read;
      const found =
        read.problems.length > 0 || value === undefined
          ? read.problems
          : problemsOf(schema, { field, draft, value });
      setProblems(found);
      if (found.length > 0 || value === undefined) return setTries((each) => each + 1);
      setBusy(true);
      await send(value);
    } catch (error) {
      setRefusal(WaybillError.from(error).message);
    } finally {
      setBusy(false);
    }
  };
  const toJson = () => setJson(pretty(valueOf(field, draft).value));
  const toFields = () => {
    const { value, problems: found } = jsonOf(json ?? "");
    if (value !== undefined && canHold(field, value)) {
      setDraft(draftOf(field, value));
      setJson(undefined);
      return setProblems([]);
    }
    const lost = {
      at: "",
      message: "The fields can't hold this. Change it here, or send it as it is.",
    };
    setProblems(found.length > 0 ? found : [lost]);
    return setTries((each) => each + 1);
  };

  const isSplit = field.kind === "group" || field.kind === "list";
  const context: FormContext = { id, problems };
  return (
    <form
      class="schema-form"
      ref={form}
      noValidate
      aria-busy={isBusy}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submitted();
      }}
    >
      {json === undefined ? (
        <FieldInput field={field} draft={draft} at="" context={context} change={setDraft} />
      ) : (
        <FieldInput
          field={{ ...field, kind: "json" }}
          draft={json}
          at=""
          // Whatever is wrong is in this one text.
          context={{ id, problems: problems.map(({ at, message }) => inText(at, message)) }}
          change={(text) => setJson(text as string)}
        />
      )}
      {isSplit && (
        <p>
          <button type="button" class="plain" onClick={json === undefined ? toJson : toFields}>
            {json === undefined ? "Edit as JSON" : "Edit in fields"}
          </button>
        </p>
      )}
      {children}
      <div role="alert">
        {problems.length > 0 && (
          <p class="problem">
            {problems.length === 1 ? "1 field" : `${problems.length} fields`} to correct; nothing
            was sent.
          </p>
        )}
        {refusal !== undefined && <p class="problem">{visible(refusal)}</p>}
      </div>
      <button type="submit" class="primary" aria-disabled={isBusy}>
        {submit}
      </button>
    </form>
  );
}

function inText(at: string, message: string): DraftProblem {
  return { at: "", message: at === "" ? message : `At ${at}: ${message}` };
}

function pretty(value: Json | undefined): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
