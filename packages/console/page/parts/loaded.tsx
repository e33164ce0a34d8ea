import { WaybillError } from "@waybill/protocol";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connection } from "../hub/feed.ts";
import { visible } from "./text.tsx";

/** What was asked of the hub: nothing yet, an answer, or the reason why there is none. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly problem: string | undefined;
  /** Asks again. */
  readonly reload: () => void;
}

/** Asks once, again when one of `of` changes, and every `everyMs` if that is given. */
export function useLoaded<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  of: readonly unknown[],
  everyMs?: number,
): Loaded<Value> {
  const [value, setValue] = useState<Value | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async () => {
      try {
        setValue(await ask(stop.signal));
        setProblem(undefined);
      } catch (error) {
        if (!stop.signal.aborted) setProblem(WaybillError.from(error).message);
      }
      if (everyMs !== undefined && !stop.signal.aborted) {
        timer = setTimeout(() => void once(), everyMs);
      }
    };
    void once();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [...of, round, everyMs]);
  return { value, problem, reload: () => setRound((each) => each + 1) };
}

/** A reason why something is not shown. */
export function Problem({
  children,
}: {
  readonly children: string | undefined;
}): ComponentChildren {
  // While the hub is gone, the bar above says so for all of them.
  if (children === undefined || connection.value.type === "gone") return null;
  return (
    <p class="problem" role="alert">
      {visible(children)}
    </p>
  );
}
