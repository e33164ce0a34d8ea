import { createHandoff } from "@waybill/protocol";
import type { Capability, HandoffBody, Json } from "@waybill/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { SchemaForm } from "../form/schema-form.tsx";
import { rows, version as feedVersion } from "../hub/feed.ts";
import { operatorKey, operatorPost } from "../operator/key.ts";
import { OperatorKeyPanel } from "./operator-key.tsx";
import { StandingMark } from "./standing.tsx";
import { Id, Text, visible } from "./text.tsx";

/** By default an hour: somebody waits for the result, and nobody for ever. */
const SECONDS = 3_600;
const INSTRUCTION = {
  type: "object",
  required: ["instruction"],
  properties: {
    instruction: { type: "string", title: "What to do", maxLength: 20_000 },
    expected_output: { type: "string", title: "What is expected back" },
  },
} as const;

interface SendFormProps {
  readonly agent: string;
  readonly capability: Capability;
}

/** Hands work off to an agent, with a form made from the capability's input schema. */
export function SendForm({ agent, capability }: SendFormProps) {
  const [seconds, setSeconds] = useState(String(capability.timeout_seconds ?? SECONDS));
  const [sent, setSent] = useState<readonly string[]>([]);
  const { name, version, input_schema: schema } = capability;
  const key = operatorKey.value;
  const place = useRef<HTMLDivElement>(null);
  // The button that has opened the form is gone, and the focus with it.
  useEffect(() => place.current?.focus(), []);
  const send = async (value: Json) => {
    const content = schema === undefined ? { brief: value } : { input: value };
    const handoff = createHandoff({
      from: key!.agent,
      domain: key!.domain,
      to: agent,
      body: { capability: name, version, ...content } as HandoffBody,
      timeoutMs: Number(seconds) * 1_000,
    });
    await operatorPost.value!.submit(handoff);
    setSent([handoff.handoff_id, ...sent]);
  };
  return (
    <div ref={place} tabIndex={-1} role="group" aria-label={`Hand off ${visible(name)}`}>
      <OperatorKeyPanel />
      {key && (
        <SchemaForm
          schema={schema ?? INSTRUCTION}
          label={schema === undefined ? "Work" : "Input"}
          submit="Hand off"
          send={send}
        >
          <div class="field">
            <label for="send-seconds">Time, in seconds</label>
            <input
              id="send-seconds"
              type="number"
              min="1"
              value={seconds}
              onInput={(event) => setSeconds(event.currentTarget.value)}
            />
          </div>
        </SchemaForm>
      )}
      {sent.length > 0 && (
        <div role="status">
          <ul aria-label="Handed off">
            {sent.map((id) => (
              <Sent key={id} id={id} />
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** How a handoff that was made here goes on. */
function Sent({ id }: { readonly id: string }) {
  // Drawn again with every change of the rows.
  void feedVersion.value;
  const row = rows.get(id);
  return (
    <li>
      <Link href={`/handoffs/${id}`}>
        <Id value={id} full />
      </Link>{" "}
      {row !== undefined && (
        <>
          <StandingMark standing={row.standing} /> <Text value={row.says} />
        </>
      )}
    </li>
  );
}
