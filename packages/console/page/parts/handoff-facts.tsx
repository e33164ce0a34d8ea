import type { HandoffEnvelope } from "@waybill/protocol";
import type { WireHandoffView } from "@waybill/protocol/wire";
import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { StatusText } from "./standing.tsx";
import { Id, Text } from "./text.tsx";

interface HandoffFactsProps {
  readonly view: WireHandoffView;
  /** As its delegator has signed it; undefined if the hub does not show it. */
  readonly handoff: HandoffEnvelope | undefined;
  readonly isDiscarded?: boolean;
  /** Further facts. */
  readonly children: ComponentChildren;
}

/** Where a handoff stands, who handed it to whom, and what it belongs to. */
export function HandoffFacts({ view, handoff, isDiscarded = false, children }: HandoffFactsProps) {
  return (
    <dl class="facts wide">
      <dt>State</dt>
      <dd>
        {view.state.replaceAll("_", " ")} · <StatusText status={view.status} />
        {isDiscarded && " · discarded"}
      </dd>
      {handoff !== undefined && <Parties handoff={handoff} />}
      {children}
    </dl>
  );
}

function Parties({ handoff }: { readonly handoff: HandoffEnvelope }) {
  const { from, to, body, correlation_id: job, parent_id: parent, replay_of: first } = handoff;
  return (
    <>
      <dt>From</dt>
      <dd>
        <Text value={from} />
      </dd>
      <dt>To</dt>
      <dd>
        {typeof to === "string" ? (
          <Text value={to} />
        ) : (
          <>
            whoever offers <Text value={to.capability} />
          </>
        )}
      </dd>
      <dt>Capability</dt>
      <dd>
        <Text value={body.capability} />
      </dd>
      <dt>Job</dt>
      <dd>
        <Link href={`/jobs/${job}`}>
          <Id value={job} full />
        </Link>
      </dd>
      {parent !== undefined && <Related name="Part of" id={parent} />}
      {first !== undefined && <Related name="Replay of" id={first} />}
    </>
  );
}

/** Another handoff, by its relation to this one. */
export function Related({ name, id }: { readonly name: string; readonly id: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Link href={`/handoffs/${id}`}>
          <Id value={id} full />
        </Link>
      </dd>
    </>
  );
}
