import { WaybillError } from "@waybill/protocol";
import { useEffect, useState } from "preact/hooks";
import { session } from "../hub/session.ts";
import { enrol, lookForKey, operatorKey, revoke } from "../operator/key.ts";
import { results } from "../operator/results.ts";
import { Problem } from "./loaded.tsx";

/** Whether what is done here is signed with a key of this browser. Shows nothing to readers. */
export function OperatorKeyPanel() {
  const [problem, setProblem] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  const isOperator = session.value?.role === "operator";
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
      setProblem(undefined);
    } catch (error) {
      setProblem(WaybillError.from(error).message);
    }
    setBusy(false);
  };
  useEffect(() => {
    if (isOperator && operatorKey.value === undefined) void run(lookForKey);
  }, [isOperator]);
  if (!isOperator) return null;
  const key = operatorKey.value;
  return (
    <section aria-labelledby="operator-key" aria-busy={isBusy} class="key-panel">
      <h2 id="operator-key">Your key</h2>
      <Problem>{problem}</Problem>
      {key === undefined ? (
        <p class="note">Looking for the key of this browser…</p>
      ) : key === null ? (
        <>
          <p>
            What you replay, discard and hand off is signed with a key of this browser, so that the
            ledger shows who did it. The hub has to know the key first.
          </p>
          <button type="button" class="primary" disabled={isBusy} onClick={() => void run(enrol)}>
            Enrol a key of this browser
          </button>
        </>
      ) : (
        <>
          <p role="status">
            You sign as <strong>{key.agent}</strong>. The key can't leave this browser.{" "}
            <button type="button" disabled={isBusy} onClick={() => void run(revoke)}>
              Revoke it
            </button>
          </p>
          <ResultCounts />
        </>
      )}
    </section>
  );
}

/** How many results have come to the operators' agent. */
function ResultCounts() {
  const { completed, failed } = results.value;
  if (completed + failed === 0) return null;
  return (
    <p class="note" role="status">
      Results that came back since you opened this page: {completed.toLocaleString("en")} completed
      {failed > 0 && `, ${failed.toLocaleString("en")} failed`}. Each is acknowledged.
    </p>
  );
}
