import type { BoundAttempt } from "../hub/breaches.ts";
import { durationText, Json, Text } from "./text.tsx";

/** What was agreed in each attempt, and who has broken it. */
export function Contracts({ contracts }: { readonly contracts: readonly BoundAttempt[] }) {
  if (contracts.length === 0) return null;
  return (
    <section aria-labelledby="contracts">
      <h2 id="contracts">Contract</h2>
      <p class="note">
        What each recipient has agreed to by accepting: the terms of the handoff, and those of its
        own manifest where the handoff says nothing.
      </p>
      {contracts.map(({ attempt, recipient, contract, breaches }) => {
        const { timeout_seconds: timeout, lease_seconds: lease, max_attempts: most } = contract;
        const { max_tokens: tokens, max_cost: cost, output_schema: schema } = contract;
        return (
          <div key={attempt}>
            <h3>
              Attempt {attempt}, <Text value={recipient} />
            </h3>
            {breaches.length === 0 ? (
              <p class="mark good">
                <span aria-hidden="true">✓</span> kept, as far as the record shows
              </p>
            ) : (
              <ul class="problem">
                {breaches.map(({ by, term, reason }) => (
                  <li key={`${term} ${by}`}>
                    <Text value={by} /> broke <code>{term}</code>: <Text value={reason} />.
                  </li>
                ))}
              </ul>
            )}
            <dl class="facts">
              <dt>Done within</dt>
              <dd>{durationText(timeout * 1000)}</dd>
              <dt>Silent for at most</dt>
              <dd>{durationText(lease * 1000)}</dd>
              <dt>Attempts</dt>
              <dd>{most}</dd>
              {tokens !== undefined && (
                <>
                  <dt>Tokens</dt>
                  <dd>at most {tokens.toLocaleString("en")}</dd>
                </>
              )}
              {cost !== undefined && (
                <>
                  <dt>Cost</dt>
                  <dd>
                    at most <Text value={`${cost.amount} ${cost.currency}`} />
                  </dd>
                </>
              )}
            </dl>
            <details>
              <summary>What it returns</summary>
              <Json label={`What attempt ${attempt} returns`} value={schema} />
            </details>
          </div>
        );
      })}
    </section>
  );
}
