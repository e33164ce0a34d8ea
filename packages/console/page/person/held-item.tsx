import type { Capability, Json, ResultBody } from "@waybill/protocol";
import { Link } from "wouter-preact";
import { SchemaForm } from "../form/schema-form.tsx";
import { Deadline } from "../parts/deadline.tsx";
import { Id, Json as JsonText, Text } from "../parts/text.tsx";
import { Work } from "../parts/work.tsx";
import type { HeldWork, Inbox } from "./inbox.ts";

const REASON = {
  type: "object",
  required: ["reason"],
  properties: { reason: { type: "string", title: "Why", maxLength: 2_000 } },
} as const;
const QUESTION = {
  type: "object",
  required: ["text", "form"],
  properties: {
    text: { type: "string", title: "Question", maxLength: 4_000 },
    form: { enum: ["a text", "yes or no", "a number"], title: "The answer is" },
  },
} as const;
const ANSWERS: Readonly<Record<string, Json>> = {
  "a text": { type: "string" },
  "yes or no": { type: "boolean" },
  "a number": { type: "number" },
};
const ANY_TEXT = { type: "string" } as const;

/** Work that the person has accepted, and everything that can be done with it. */
export function HeldItem({
  work,
  inbox,
  capability,
}: {
  readonly work: HeldWork;
  readonly inbox: Inbox;
  readonly capability: Capability | undefined;
}) {
  const { handoff, asked, answers } = work;
  const { body, handoff_id: id, deadline } = handoff;
  const schema = capability?.output_schema;
  return (
    <article class="work-item" aria-label={`${body.capability} for ${handoff.from}`}>
      <h3>
        <Text value={body.capability} /> for <Text value={handoff.from} />
      </h3>
      <p>
        <Link href={`/handoffs/${id}`}>
          <Id value={id} />
        </Link>
        , due <Deadline at={Date.parse(deadline)} isOpen />
      </p>
      <Work title="Work" body={body} />
      {asked.length > 0 && (
        <dl class="facts">
          {asked.map(({ id: question, text }) => {
            const answer = answers.find((each) => each.question_id === question);
            return (
              <div key={question}>
                <dt>
                  You asked: <Text value={text ?? question} />
                </dt>
                <dd>
                  {answer === undefined ? (
                    "No answer yet. Until it comes, only the deadline counts."
                  ) : (
                    <JsonText label="Answer" value={answer.answer} />
                  )}
                </dd>
              </div>
            );
          })}
        </dl>
      )}
      <SchemaForm
        key={JSON.stringify(schema)}
        schema={isOpen(schema) ? ANY_TEXT : schema}
        label="Your result"
        submit="Deliver"
        send={(output) => inbox.deliver(work, { status: 200, output })}
      />
      <details>
        <summary>Ask back</summary>
        <SchemaForm
          key={asked.length}
          schema={QUESTION}
          label="Your question"
          submit="Ask"
          send={(value) => {
            const { text, form } = value as { readonly text: string; readonly form: string };
            return inbox.ask(work, { text, schema: ANSWERS[form]! });
          }}
        />
      </details>
      <details>
        <summary>Give it back, so that it is offered again</summary>
        <SchemaForm
          schema={REASON}
          label="Give it back"
          submit="Give back"
          send={(value) => inbox.giveBack(work, reasonIn(value))}
        />
      </details>
      <details>
        <summary>Decline it for good</summary>
        <SchemaForm
          schema={REASON}
          label="Decline it"
          submit="Decline"
          send={(value) => inbox.deliver(work, declined(reasonIn(value)))}
        />
      </details>
    </article>
  );
}

/** After an acceptance the work ends with a result, whichever that is. */
function declined(message: string): ResultBody {
  return { status: 500, error: { message, retryable: false }, effects: "none" };
}

function reasonIn(value: Json): string {
  return (value as { readonly reason: string }).reason;
}

function isOpen(schema: unknown): boolean {
  return typeof schema !== "object" || schema === null || Object.keys(schema).length === 0;
}
