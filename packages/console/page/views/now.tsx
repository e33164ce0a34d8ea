import type { WirePresence } from "@waybill/protocol/wire";
import { Link } from "wouter-preact";
import { connection, knownFrom, rates, rows, version } from "../hub/feed.ts";
import { OPEN } from "../hub/handoffs.ts";
import { get, getText } from "../hub/hub.ts";
import { RateChart } from "../parts/chart.tsx";
import { HandoffTable } from "../parts/handoff-table.tsx";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { isThisHub } from "../parts/presence.tsx";
import { Figure, percent, Text, useNow } from "../parts/text.tsx";
import { gauge } from "../hub/metrics.ts";
import { capabilitiesOf, measuredOf } from "../hub/reliability.ts";
import type { MeasuredCapability } from "../hub/reliability.ts";

const AGAIN_MS = 3_000;
const MEASURED_AGAIN_MS = 15_000;
const AGENTS = 100;

/** What happens at this hub. */
export function Now() {
  const isLive = connection.value.type === "live";
  const agents = useLoaded(
    (signal) =>
      get<{ agents: WirePresence[]; next?: string }>(`/v1/agents?limit=${AGENTS}`, signal),
    [isLive],
    AGAIN_MS,
  );
  const names = capabilitiesOf(agents.value?.agents ?? []);
  const measured = useLoaded(
    (signal) => measuredOf(names, signal),
    [isLive, names.join(" ")],
    MEASURED_AGAIN_MS,
  );
  const metrics = useLoaded((signal) => getText("/metrics", signal), [isLive], AGAIN_MS);
  const at = useNow();
  const from = knownFrom.value;
  return (
    <>
      <h1>Now</h1>
      <Counts at={at} />
      <p class="note">
        {from === 0
          ? "Counted over the whole ledger."
          : `Counted since entry ${from.toLocaleString("en")} of the ledger.`}
      </p>
      <div class="columns">
        <section aria-labelledby="rates">
          <h2 id="rates">Throughput</h2>
          <p class="legend">
            <span class="key begun">begun {rates.perSecond("begun", at).toFixed(1)} /s</span>
            <span class="key ended">ended {rates.perSecond("ended", at).toFixed(1)} /s</span>
          </p>
          <RateChart rates={rates} />
        </section>
        <section aria-labelledby="health">
          <h2 id="health">Hub</h2>
          <Problem>{metrics.problem}</Problem>
          <Health text={metrics.value} />
        </section>
      </div>
      <section aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        <Problem>{agents.problem}</Problem>
        {agents.value === undefined ? (
          <p class="empty">Asking…</p>
        ) : (
          <AgentCards
            agents={agents.value.agents.filter((agent) => !isThisHub(agent))}
            hasMore={agents.value.next !== undefined}
            measured={measured.value}
          />
        )}
      </section>
      <section aria-labelledby="latest">
        <h2 id="latest">Latest handoffs</h2>
        <HandoffTable label="Latest handoffs" />
      </section>
    </>
  );
}

/** Where the handoffs stand that the page has read. */
function Counts({ at }: { readonly at: number }) {
  // Drawn again with every change of the rows.
  void version.value;
  const open = OPEN.reduce((sum, standing) => sum + rows.count(standing), 0);
  const asks = rows.count("asks");
  const dead = rows.count("dead letter");
  return (
    <dl class="figures">
      <Figure
        label="Open"
        value={open}
        says={`${rates.perSecond("begun", at).toFixed(1)} a second handed off`}
      />
      <Figure label="Waiting for an answer" value={asks} tone={asks > 0 ? "warn" : ""} />
      <Figure label="Failed" value={rows.count("failed")} says="by their recipient" />
      <Figure
        label="Dead letters"
        value={dead}
        tone={dead > 0 ? "bad" : ""}
        says="without a verdict"
      />
    </dl>
  );
}

const MEGABYTE = 1_000_000;

function Health({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return <p class="empty">Asking…</p>;
  const lag = gauge(text, "nodejs_eventloop_lag_p99_seconds");
  return (
    <dl class="facts">
      <dt>Ledger</dt>
      <dd>{gauge(text, "waybill_ledger_entries_total").toLocaleString("en")} entries</dd>
      <dt>At work</dt>
      <dd>
        {attemptsText(gauge(text, "waybill_attempts_in_flight"))}, room for{" "}
        {gauge(text, "waybill_credit").toLocaleString("en")}
      </dd>
      <dt>Delay</dt>
      <dd>{(lag * 1000).toFixed(0)} ms of the event loop (p99)</dd>
      <dt>Memory</dt>
      <dd>{Math.round(gauge(text, "process_resident_memory_bytes") / MEGABYTE)} MB</dd>
      <dt>Faults</dt>
      <dd>{gauge(text, "waybill_failures_total")} since it started</dd>
    </dl>
  );
}

function attemptsText(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "attempt" : "attempts"}`;
}

function AgentCards({
  agents,
  hasMore,
  measured,
}: {
  readonly agents: readonly WirePresence[];
  readonly hasMore: boolean;
  readonly measured: ReadonlyMap<string, readonly MeasuredCapability[]> | undefined;
}) {
  if (agents.length === 0) return <p class="empty">No agent has enrolled yet.</p>;
  return (
    <>
      <ul class="cards">
        {agents.map((agent) => {
          const { agent_id: id, is_connected: isConnected, in_flight: held, credit } = agent;
          return (
            <li key={id}>
              <strong>
                <Link href={`/agents/${id}`}>
                  <Text value={id} />
                </Link>
              </strong>
              <span class={`mark ${isConnected ? "good" : "quiet"}`}>
                <span aria-hidden="true">{isConnected ? "●" : "○"}</span>{" "}
                {agent.is_retired === true ? "retired" : isConnected ? "connected" : "away"}
              </span>
              <small>
                {isConnected && `${held} at work, room for ${credit}. `}
                {agent.capabilities.length > 0 && (
                  <Text value={agent.capabilities.map(({ name }) => name).join(", ")} />
                )}
              </small>
              {measured?.get(id)?.map((each) => (
                <Measured key={each.name} of={each} />
              ))}
            </li>
          );
        })}
      </ul>
      {hasMore && <p class="note">These are the first {agents.length}, by name.</p>}
    </>
  );
}

/** What was measured of a capability, and where that contradicts the agent's claim. */
function Measured({ of }: { readonly of: MeasuredCapability }) {
  const { name, reliability, claimed, isContradicted, isEjected } = of;
  const beside = claimed ? `, ${percent(claimed)} claimed` : "";
  return (
    <small class="measured">
      <Text value={name} />: {percent(reliability)} measured
      {beside}
      {isContradicted && <span class="mark bad"> ✗ contradicts the claim</span>}
      {isEjected && <span class="mark bad"> ✗ ejected</span>}
    </small>
  );
}
