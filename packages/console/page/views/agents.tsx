import type { WirePresence } from "@waybill/protocol/wire";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { connection } from "../hub/feed.ts";
import { get } from "../hub/hub.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { Presence } from "../parts/presence.tsx";
import { Text, Time } from "../parts/text.tsx";
import { FindPlayground } from "../parts/find-playground.tsx";

const PAGE = 100;
const AGAIN_MS = 5_000;

/** Who is registered, and who would be found for some work. */
export function Agents() {
  const [after, setAfter] = useState<readonly string[]>([]);
  const from = after.at(-1);
  const isLive = connection.value.type === "live";
  const { value, problem } = useLoaded(
    (signal) =>
      get<{ agents: WirePresence[]; next?: string }>(
        `/v1/agents?limit=${PAGE}${from === undefined ? "" : `&after=${encodeURIComponent(from)}`}`,
        signal,
      ),
    [from, isLive],
    AGAIN_MS,
  );
  return (
    <>
      <h1>Agents</h1>
      <section aria-labelledby="registered">
        <h2 id="registered">Registered</h2>
        <Problem>{problem}</Problem>
        <div class="scrolled" tabIndex={0} role="region" aria-labelledby="registered">
          <table>
            <thead>
              <tr>
                <th>Agent</th>
                <th>Connection</th>
                <th>At work</th>
                <th>Room</th>
                <th>Capabilities</th>
                <th>Manifest</th>
              </tr>
            </thead>
            <tbody>
              {(value?.agents ?? []).map((agent) => (
                <tr key={agent.agent_id}>
                  <td>
                    <Link href={`/agents/${agent.agent_id}`}>
                      <Text value={agent.agent_id} />
                    </Link>
                  </td>
                  <td>
                    <Presence agent={agent} />
                  </td>
                  <td>{agent.in_flight}</td>
                  <td>{agent.is_connected ? agent.credit : "–"}</td>
                  <td>
                    <Text value={agent.capabilities.map(({ name }) => name).join(", ")} />
                    {agent.capability_count > agent.capabilities.length &&
                      ` and ${agent.capability_count - agent.capabilities.length} more`}
                  </td>
                  <td>
                    {agent.sequence}, <Time at={Date.parse(agent.published_at)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {(from !== undefined || value?.next !== undefined) && (
          <p>
            <button
              type="button"
              disabled={from === undefined}
              onClick={() => setAfter(after.slice(0, -1))}
            >
              Previous
            </button>{" "}
            <button
              type="button"
              disabled={value?.next === undefined}
              onClick={() => setAfter([...after, value!.next!])}
            >
              Next
            </button>
          </p>
        )}
      </section>
      <FindPlayground />
    </>
  );
}
