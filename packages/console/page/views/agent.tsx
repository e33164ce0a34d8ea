import type { Capability, VerifiedManifest } from "@waybill/protocol";
import type { WireFound, WirePresence, WireWellKnown } from "@waybill/protocol/wire";
import { useState } from "preact/hooks";
import { connection } from "../hub/feed.ts";
import { get } from "../hub/hub.ts";
import { AgentContracts } from "../parts/agent-contracts.tsx";
import { session } from "../hub/session.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { isThisHub, Presence } from "../parts/presence.tsx";
import { SendForm } from "../parts/send-form.tsx";
import { SchemaTable } from "../parts/schema-table.tsx";
import { durationText, percent, Text, Time } from "../parts/text.tsx";
import { Trust } from "../trust/check.ts";

/** One agent: its manifests checked here, its capabilities, and what was measured. */
export function Agent({ params: { id = "" } }: { readonly params: { readonly id?: string } }) {
  return <AgentOf key={id} id={id} />;
}

interface Read {
  readonly manifests: readonly VerifiedManifest[];
  readonly problem: string | undefined;
}

async function manifestsOf(id: string, signal: AbortSignal): Promise<Read> {
  const { hub } = await get<WireWellKnown>("/.well-known/waybill", signal);
  const trust = new Trust(hub);
  return { manifests: await trust.of(id), problem: trust.problems.get(id) };
}

const AGAIN_MS = 5_000;

function AgentOf({ id }: { readonly id: string }) {
  const isLive = connection.value.type === "live";
  const presence = useLoaded(
    (signal) => get<WirePresence>(`/v1/agents/${encodeURIComponent(id)}`, signal),
    [isLive],
    AGAIN_MS,
  );
  const read = useLoaded((signal) => manifestsOf(id, signal), [presence.value?.sequence, isLive]);
  const manifest = read.value?.manifests.at(-1)?.manifest;
  const [sending, setSending] = useState<string | undefined>();
  return (
    <>
      <h1>
        <Text value={id} />
      </h1>
      <Problem>{presence.problem ?? read.problem}</Problem>
      {read.value !== undefined && <Verdict read={read.value} />}
      {presence.value !== undefined && (
        <dl class="facts wide">
          <dt>Connection</dt>
          <dd>
            <Presence agent={presence.value} />
          </dd>
          {!isThisHub(presence.value) && (
            <>
              <dt>Load</dt>
              <dd>
                {presence.value.in_flight} at work, room for {presence.value.credit}
              </dd>
            </>
          )}
          {manifest?.description !== undefined && (
            <>
              <dt>Says of itself</dt>
              <dd>
                <Text value={manifest.description} />
              </dd>
            </>
          )}
        </dl>
      )}
      {(manifest?.capabilities ?? []).map((capability) => {
        const name = `${capability.name} ${capability.version}`;
        return (
          <CapabilitySection
            key={name}
            agent={id}
            capability={capability}
            isSending={sending === name}
            begin={() => setSending(name)}
          />
        );
      })}
      {presence.value !== undefined && !isThisHub(presence.value) && (
        <AgentContracts key={id} agent={id} />
      )}
      {read.value !== undefined && <Keys manifests={read.value.manifests} />}
    </>
  );
}

function Verdict({ read: { manifests, problem } }: { readonly read: Read }) {
  if (problem === undefined) {
    return (
      <p class="verdict good" role="status">
        <span aria-hidden="true">✓</span> {manifests.length}{" "}
        {manifests.length === 1 ? "manifest holds" : "manifests hold, each after the one before"}:
        checked here, in this browser.
      </p>
    );
  }
  return (
    <p class="verdict bad" role="alert">
      <span aria-hidden="true">✗</span> <Text value={problem} />
    </p>
  );
}

function CapabilitySection({
  agent,
  capability,
  isSending,
  begin,
}: {
  readonly agent: string;
  readonly capability: Capability;
  readonly isSending: boolean;
  readonly begin: () => void;
}) {
  const {
    name,
    version,
    description,
    takes,
    timeout_seconds: timeout,
    input_schema,
    output_schema,
  } = capability;
  const { value: found, problem } = useLoaded(
    (signal) => get<WireFound>(`/v1/capabilities?capability=${encodeURIComponent(name)}`, signal),
    [name],
    AGAIN_MS,
  );
  const fit = found?.fits.find(
    (each) => each.agent_id === agent && each.capability.version === version,
  );
  const out = found?.left_out.find((each) => each.agent_id === agent && each.version === version);
  const heading = `capability-${name}-${version}`;
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>
        <Text value={name} />{" "}
        <small>
          <Text value={version} />
        </small>
      </h2>
      {description !== undefined && (
        <p>
          <Text value={description} />
        </p>
      )}
      <Problem>{problem}</Problem>
      <dl class="facts">
        <dt>Takes</dt>
        <dd>{[takes].flat().join(", ") || "structured"}</dd>
        <dt>Claims</dt>
        <dd>
          {capability.reliability_sla === undefined
            ? "no reliability"
            : `${percent(capability.reliability_sla)} reliability`}
          {timeout !== undefined && `, done in ${durationText(timeout * 1000)}`}
        </dd>
        <dt>Measured</dt>
        <dd>
          {fit === undefined ? (
            out === undefined ? (
              "unknown"
            ) : (
              <>
                not offered now: <Text value={out.reasons.join("; ")} />
              </>
            )
          ) : fit.is_measured ? (
            `${percent(fit.reliability)} at least, standing: ${fit.standing}`
          ) : (
            "not yet"
          )}
          {fit?.is_contradicted === true && <span class="mark bad"> ✗ contradicts the claim</span>}
          {fit?.standing === "ejected" && (
            <span class="mark bad">
              {" "}
              ✗ <Text value={fit.reasons.join("; ")} />
            </span>
          )}
          {fit?.mean_ms !== undefined && `, takes ${durationText(fit.mean_ms)} on average`}
        </dd>
      </dl>
      {session.value?.role === "operator" &&
        (isSending ? (
          <SendForm agent={agent} capability={capability} />
        ) : (
          <p>
            <button type="button" onClick={begin}>
              Hand off <Text value={name} />…
            </button>
          </p>
        ))}
      <SchemaTable title="Input" schema={input_schema} />
      <SchemaTable title="Output" schema={output_schema} />
    </section>
  );
}

function Keys({ manifests }: { readonly manifests: readonly VerifiedManifest[] }) {
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <div class="scrolled" tabIndex={0} role="region" aria-labelledby="keys">
        <table>
          <thead>
            <tr>
              <th>Manifest</th>
              <th>Published</th>
              <th>Signed by</th>
              <th>Keys</th>
            </tr>
          </thead>
          <tbody>
            {manifests.toReversed().map(({ manifest, at, kid, keys }) => (
              <tr key={manifest.sequence}>
                <td>{manifest.sequence}</td>
                <td>
                  <Time at={at} />
                </td>
                <td>
                  <code>{kid}</code>
                </td>
                <td>
                  {[...keys.keys()].map((each) => (
                    <div key={each}>
                      <code>{each}</code>
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
