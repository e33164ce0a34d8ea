import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { connection } from "../hub/feed.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { Text } from "../parts/text.tsx";
import { inbox, offered, readOffered, reopenInbox } from "../person/current-inbox.ts";
import { EndingItem } from "../person/ending-item.tsx";
import { EnrolmentForm, ManifestForm } from "../person/enrolment-form.tsx";
import { HeldItem } from "../person/held-item.tsx";
import type { Inbox } from "../person/inbox.ts";
import { notifies, turnOffNotifications, turnOnNotifications } from "../person/notifications.ts";
import { forgetPerson, person } from "../person/person.ts";
import type { Person } from "../person/person.ts";
import { QuestionItem } from "../person/question-item.tsx";
import { WaitingList } from "../person/waiting-list.tsx";
import { Trust } from "../trust/check.ts";

/** What waits for the person at this page, who is an agent like any other. */
export function InboxView() {
  const who = person.value;
  return (
    <>
      <h1>Inbox</h1>
      {who === undefined ? (
        <p class="empty">Reading…</p>
      ) : who === null ? (
        <NotEnrolled />
      ) : (
        <Enrolled key={who.kid} who={who} />
      )}
    </>
  );
}

function NotEnrolled() {
  return (
    <section aria-labelledby="enrol">
      <h2 id="enrol">Take part as an agent</h2>
      <p>
        Agents can hand you work, such as a review, and ask you questions. You sign your answers
        with a key that this browser makes and keeps. The key can't be read or copied: whoever uses
        this browser profile can sign as you, and nobody else can, not even the hub.
      </p>
      <EnrolmentForm />
    </section>
  );
}

function Enrolled({ who }: { readonly who: Person }) {
  const { value: opened } = inbox;
  if (opened === undefined) return <p class="empty">Opening…</p>;
  const questions = opened.questions.value;
  const held = opened.held.value;
  const endings = opened.endings.value;
  return (
    <>
      <State opened={opened} who={who} />
      {questions.length > 0 && (
        <section aria-labelledby="questions">
          <h2 id="questions">Questions for you</h2>
          {questions.map((each) => (
            <QuestionItem
              key={`${each.question.id} ${each.asked.id}`}
              open={each}
              answer={(answer) => opened.answer(each, answer)}
            />
          ))}
        </section>
      )}
      <section aria-labelledby="held">
        <h2 id="held">Your work</h2>
        {held.length === 0 ? (
          <p class="empty">You have not accepted any work.</p>
        ) : (
          <>
            <p class="note">
              This page keeps your work for as long as it is open. If you close it, the work stays
              yours for the time that its capability names, and continues when you open the page
              again in time. Later it is offered again, as another attempt.
            </p>
            {held.map((work) => (
              <HeldItem
                key={`${work.handoff.handoff_id} ${work.attempt}`}
                work={work}
                inbox={opened}
                capability={offered.value.find(({ name }) => name === work.handoff.body.capability)}
              />
            ))}
          </>
        )}
      </section>
      <WaitingList inbox={opened} />
      {endings.length > 0 && (
        <section aria-labelledby="endings">
          <h2 id="endings">Results of what you handed off</h2>
          {endings.map((each) => (
            <EndingItem
              key={each.digest}
              ending={each}
              acknowledge={() => opened.acknowledge(each)}
            />
          ))}
        </section>
      )}
      <You who={who} />
    </>
  );
}

const SIGNS = {
  opening: ["○", "quiet", "opening"],
  open: ["●", "good", "open: agents can reach you"],
  gone: ["✗", "bad", "closed: the hub does not answer"],
  elsewhere: ["○", "warn", "open elsewhere"],
} as const;

function State({ opened, who }: { readonly opened: Inbox; readonly who: Person }) {
  const { value } = opened.state;
  const [sign, tone, says] = SIGNS[value.type];
  return (
    <>
      <p>
        You are{" "}
        <Link href={`/agents/${who.agent}`}>
          <Text value={who.agent} />
        </Link>
        . Your inbox is{" "}
        <span class={`mark ${tone}`} role="status">
          <span aria-hidden="true">{sign}</span> {says}
        </span>
      </p>
      {value.type === "elsewhere" && (
        <>
          <Problem>{value.why}</Problem>
          <p>
            <button type="button" onClick={reopenInbox}>
              Open it here
            </button>
          </p>
        </>
      )}
    </>
  );
}

function You({ who }: { readonly who: Person }) {
  const isLive = connection.value.type === "live";
  const { value, problem, reload } = useLoaded(async () => {
    const manifests = await new Trust(who.hub).of(who.agent);
    return manifests.at(-1)?.manifest;
  }, [who.agent, isLive]);
  const [isChanging, setChanging] = useState(false);
  const [isForgetting, setForgetting] = useState(false);
  const [refusal, setRefusal] = useState<string | undefined>();
  useEffect(() => setRefusal(undefined), [notifies.value]);
  return (
    <section aria-labelledby="you">
      <h2 id="you">You</h2>
      <dl class="facts">
        <dt>Name</dt>
        <dd>
          <Text value={who.agent} />
        </dd>
        <dt>Key</dt>
        <dd>
          <code>{who.kid}</code>
        </dd>
        <dt>Others can hand you</dt>
        <dd>
          <Text value={value?.capabilities.map(({ name }) => name).join(", ") || "nothing"} />
        </dd>
      </dl>
      <Problem>{problem ?? refusal}</Problem>
      <p class="acts">
        <button
          type="button"
          aria-pressed={notifies.value}
          onClick={() => {
            if (notifies.value) turnOffNotifications();
            else void turnOnNotifications().then(setRefusal);
          }}
        >
          {notifies.value ? "Turn notifications off" : "Notify me of new work"}
        </button>
        <button type="button" aria-expanded={isChanging} onClick={() => setChanging(!isChanging)}>
          Change what you publish
        </button>
        <button
          type="button"
          aria-expanded={isForgetting}
          onClick={() => setForgetting(!isForgetting)}
        >
          Delete your key
        </button>
      </p>
      {isForgetting && (
        <div class="problem">
          <p>
            Nobody can sign as <Text value={who.agent} /> afterwards, and this can't be undone: an
            operator has to pin another key before the name can be used again.
          </p>
          <button type="button" onClick={() => void forgetPerson()}>
            Delete the key of {who.agent}
          </button>
        </div>
      )}
      {isChanging && value !== undefined && (
        <ManifestForm
          key={value.sequence}
          who={who}
          description={value.description}
          capabilities={value.capabilities}
          done={async () => {
            setChanging(false);
            reload();
            await readOffered();
          }}
        />
      )}
    </section>
  );
}
