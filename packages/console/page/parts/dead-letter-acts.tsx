import type { WireDeadLetter } from "@waybill/protocol/wire";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { session } from "../hub/session.ts";
import { discard, originalOf, replay } from "../operator/acts.ts";
import { actOnAll, progress } from "../operator/bulk.ts";
import { operatorKey, operatorPost } from "../operator/key.ts";
import { ActProgress } from "./act-progress.tsx";

/** What an operator can do about the chosen dead letters. */
export function DeadLetterActs({ letters }: { readonly letters: readonly WireDeadLetter[] }) {
  if (session.value?.role !== "operator") {
    return (
      <p class="note">
        You can read this list. Only an operator can replay or discard dead letters.
      </p>
    );
  }
  const ids = letters.map(({ id }) => id);
  const key = operatorKey.value;
  const isRunning = progress.value?.isOver === false;
  const isDisabled = ids.length === 0 || isRunning || !key;
  const count = `${ids.length.toLocaleString("en")} dead ${ids.length === 1 ? "letter" : "letters"}`;
  const replayAll = (form: FormData) => {
    const by = operatorPost.value!;
    const timeoutMs = secondsIn(form);
    return actOnAll("replayed", ids, async (id, retry) => {
      const original = await retry(() => originalOf(id, by));
      return replay(by, original, { timeoutMs }, retry);
    });
  };
  const discardAll = (form: FormData) => {
    const reason = form.get("reason") as string;
    return actOnAll("discarded", ids, (id, retry) => retry(() => discard(key!, id, reason)));
  };
  return (
    <>
      <div class="acts">
        <Asking
          name="replay"
          button={`Replay ${ids.length.toLocaleString("en")} chosen…`}
          isDisabled={isDisabled}
          title={`Replay ${count}?`}
          submit="Replay"
          act={replayAll}
        >
          <p>
            Each is handed off again, as it was, by {key?.agent}. Its result comes to you and not to
            whoever handed it off first. What was replayed before is left alone.
          </p>
          <TimeField />
        </Asking>
        <Asking
          name="discard"
          button={`Discard ${ids.length.toLocaleString("en")} chosen…`}
          isDisabled={isDisabled}
          title={`Discard ${count}?`}
          submit="Discard"
          act={discardAll}
        >
          <p>
            They leave this list, and nobody is told. They stay in the ledger, and so does this act,
            signed by {key?.agent}, with your reason.
          </p>
          <label>
            Reason <input name="reason" required maxLength={1_000} autocomplete="off" />
          </label>
        </Asking>
        {!key && <span class="note">Enrol a key of this browser first.</span>}
      </div>
      <ActProgress />
    </>
  );
}

/** How long a replay may take. */
export function TimeField() {
  return (
    <label>
      Time, in seconds{" "}
      <input name="seconds" type="number" min="1" placeholder="as the first time" />
    </label>
  );
}

/** The time that was entered, in milliseconds. */
export function secondsIn(form: FormData): number | undefined {
  const seconds = Number(form.get("seconds"));
  return seconds > 0 ? seconds * 1_000 : undefined;
}

interface AskingProps {
  readonly name: string;
  readonly button: string;
  readonly isDisabled: boolean;
  readonly title: string;
  readonly submit: string;
  readonly act: (form: FormData) => Promise<void>;
  readonly children: ComponentChildren;
}

/** A button that asks for the details before it acts. */
function Asking({ name, button, isDisabled, title, submit, act, children }: AskingProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = `${name}-title`;
  return (
    <>
      <button type="button" disabled={isDisabled} onClick={() => dialog.current?.showModal()}>
        {button}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <form
          class="stacked"
          onSubmit={(event) => {
            event.preventDefault();
            dialog.current?.close();
            void act(new FormData(event.currentTarget));
          }}
        >
          <h2 id={id}>{title}</h2>
          {children}
          <p class="filters">
            <button type="submit" class="primary">
              {submit}
            </button>
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
          </p>
        </form>
      </dialog>
    </>
  );
}
