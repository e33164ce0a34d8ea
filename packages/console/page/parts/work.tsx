import type { HandoffBody, Message, ResultBody } from "@waybill/protocol";
import { useId } from "preact/hooks";
import { ArtifactItem } from "./artifact-item.tsx";
import { Json, Text } from "./text.tsx";

type Body = Partial<HandoffBody & ResultBody>;

/** What is handed off, or what came back: in every form that it has. */
export function Work({ title, body }: { readonly title: string; readonly body: Body }) {
  const { input, output, brief, messages, artifacts, contract, error, usage, effects } = body;
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {error !== undefined && (
        <p class="problem">
          <Text value={error.message} />
        </p>
      )}
      {effects !== undefined && <p>Effects outside: {effects}</p>}
      {brief !== undefined && (
        <blockquote>
          <p>
            <Text value={brief.instruction} />
          </p>
          {brief.expected_output !== undefined && (
            <p>
              Expected: <Text value={brief.expected_output} />
            </p>
          )}
        </blockquote>
      )}
      {input !== undefined && <Json label="Input" value={input} />}
      {output !== undefined && <Json label="Output" value={output} />}
      {messages !== undefined && <Conversation messages={messages} />}
      {artifacts !== undefined && artifacts.length > 0 && (
        <ul class="artifacts">
          {artifacts.map((artifact, index) => (
            <ArtifactItem key={index} artifact={artifact} />
          ))}
        </ul>
      )}
      {contract !== undefined && (
        <>
          <h3>Contract</h3>
          <Json label="Contract" value={contract} />
        </>
      )}
      {usage !== undefined && (
        <>
          <h3>Usage</h3>
          <Json label="Usage" value={usage} />
        </>
      )}
    </section>
  );
}

function Conversation({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol class="conversation" aria-label="Conversation">
      {messages.map(({ role, name, content }, index) => (
        <li key={index} class={role}>
          <strong>
            {role}
            {name !== undefined && (
              <>
                {" "}
                <Text value={name} />
              </>
            )}
          </strong>
          {content.map((part, place) =>
            typeof part.text === "string" ? (
              <p key={place}>
                <Text value={part.text} />
              </p>
            ) : (
              <Json key={place} label={`A part of the type ${part.type}`} value={part} />
            ),
          )}
        </li>
      ))}
    </ol>
  );
}
