import { normalizeSchema, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { useMemo } from "preact/hooks";
import { Link } from "wouter-preact";
import { SchemaForm } from "../form/schema-form.tsx";
import { Id, Json as JsonText, Text } from "../parts/text.tsx";
import type { OpenQuestion } from "./inbox.ts";

const ANY_TEXT = { type: "string" } as const;

/** A question to the person, with a form made from its schema. */
export function QuestionItem({
  open: { question, asked },
  answer,
}: {
  readonly open: OpenQuestion;
  readonly answer: (answer: Json) => Promise<void>;
}) {
  const { schema, problem } = useMemo(() => schemaOf(asked.schema), [asked]);
  return (
    <article class="work-item">
      <h3>
        <Text value={asked.text ?? asked.id} />
      </h3>
      <p>
        <Text value={question.from} /> asks about{" "}
        <Link href={`/handoffs/${question.handoff_id}`}>
          <Id value={question.handoff_id} />
        </Link>
      </p>
      {asked.data !== undefined && <JsonText label="About the question" value={asked.data} />}
      {problem !== undefined && (
        <p class="problem">
          The form that it asks you to fill in can't be used: <Text value={problem} /> Answer in
          your own words.
        </p>
      )}
      <SchemaForm schema={schema} label="Your answer" submit="Answer" send={answer} />
    </article>
  );
}

function schemaOf(given: Json | undefined): { schema: unknown; problem?: string } {
  if (given === undefined) return { schema: ANY_TEXT };
  try {
    return { schema: normalizeSchema(given) };
  } catch (error) {
    return { schema: ANY_TEXT, problem: WaybillError.from(error).message };
  }
}
