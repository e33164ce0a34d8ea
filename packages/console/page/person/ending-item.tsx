import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { WaybillError } from "@waybill/protocol";
import { StatusText } from "../parts/standing.tsx";
import { Id, Text } from "../parts/text.tsx";
import { Work } from "../parts/work.tsx";
import type { Ending } from "../trust/ending.ts";

/** How something that the person handed off has ended. */
export function EndingItem({
  ending: { envelope },
  acknowledge,
}: {
  readonly ending: Ending;
  readonly acknowledge: () => Promise<void>;
}) {
  const [problem, setProblem] = useState<string | undefined>();
  const { kind, from, handoff_id: id, body } = envelope;
  return (
    <article class="work-item">
      <h3>
        <StatusText status={body.status} />
      </h3>
      <p>
        <Text value={from} />,{" "}
        <Link href={`/handoffs/${id}`}>
          <Id value={id} />
        </Link>
      </p>
      {kind === "result" ? (
        <Work title="Result" body={envelope.body} />
      ) : (
        envelope.body.reason !== undefined && (
          <p>
            <Text value={envelope.body.reason} />
          </p>
        )
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          <Text value={problem} />
        </p>
      )}
      <button
        type="button"
        onClick={() => {
          acknowledge().catch((error: unknown) => setProblem(WaybillError.from(error).message));
        }}
      >
        I have read it
      </button>
    </article>
  );
}
