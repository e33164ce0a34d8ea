import { WaybillError } from "@waybill/protocol";
import type { WireFound, WireNames } from "@waybill/protocol/wire";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { get, post } from "../hub/hub.ts";
import { Problem, useLoaded } from "./loaded.tsx";
import { durationText, percent, Text } from "./text.tsx";

/** Asks the hub whom it would choose for some work, and why. */
export function FindPlayground() {
  const names = useLoaded((signal) => get<WireNames>("/v1/capabilities?limit=100", signal), []);
  const [found, setFound] = useState<WireFound | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const find = async (form: HTMLFormElement) => {
    setProblem(undefined);
    try {
      setFound(await post<WireFound>("/v1/capabilities/find", queryOf(new FormData(form))));
    } catch (error) {
      setFound(undefined);
      setProblem(
        error instanceof SyntaxError
          ? `The input is not JSON: ${error.message}`
          : WaybillError.from(error).message,
      );
    }
  };
  return (
    <section aria-labelledby="find">
      <h2 id="find">Who would be found</h2>
      <p>
        The hub ranks the agents that fit, and says why it leaves the others out. Nothing is handed
        off.
      </p>
      <form
        class="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void find(event.currentTarget);
        }}
      >
        <div class="filters">
          <label>
            Capability <input name="capability" list="capabilities" required autocomplete="off" />
          </label>
          <datalist id="capabilities">
            {(names.value?.capabilities ?? []).map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <label>
            Version <input name="version" size={6} placeholder="any" />
          </label>
          <label>
            Tags <input name="tags" placeholder="any, by commas" />
          </label>
          <label>
            Done within (s) <input name="within" type="number" min="1" />
          </label>
          <label>
            Reliability at least{" "}
            <input name="reliability" type="number" min="0" max="1" step="0.01" />
          </label>
        </div>
        <label>
          Input, as JSON{" "}
          <textarea name="input" rows={4} spellcheck={false} placeholder="not checked if empty" />
        </label>
        <button type="submit" class="primary">
          Find
        </button>
      </form>
      <Problem>{problem ?? names.problem}</Problem>
      {found !== undefined && <FoundTables found={found} />}
    </section>
  );
}

function queryOf(form: FormData): object {
  const text = (name: string) => {
    const value = form.get(name);
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  const number = (name: string) => (text(name) === undefined ? undefined : Number(text(name)));
  const input = text("input");
  return {
    capability: text("capability"),
    version: text("version"),
    tags: text("tags")
      ?.split(",")
      .map((tag) => tag.trim()),
    within: number("within"),
    min_reliability: number("reliability"),
    ...(input !== undefined && { input: JSON.parse(input) as unknown }),
  };
}

/** Who fits, and why others are left out. */
export function FoundTables({
  found: { fits, left_out: leftOut, next },
}: {
  readonly found: WireFound;
}) {
  return (
    <div role="status">
      <h3>{fits.length === 0 ? "Nobody fits" : "Fits, the best first"}</h3>
      {fits.length > 0 && (
        <div class="scrolled" tabIndex={0} role="region" aria-label="Agents that fit">
          <table>
            <thead>
              <tr>
                <th>Agent</th>
                <th>Reliability</th>
                <th>Claims</th>
                <th>Standing</th>
                <th>At work</th>
                <th>Room</th>
                <th>Takes</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {fits.map((fit) => (
                <tr key={`${fit.agent_id} ${fit.capability.version}`}>
                  <td>
                    <Link href={`/agents/${fit.agent_id}`}>
                      <Text value={fit.agent_id} />
                    </Link>{" "}
                    <Text value={fit.capability.version} />
                  </td>
                  <td>{fit.is_measured ? percent(fit.reliability) : "not measured yet"}</td>
                  <td>
                    {fit.capability.reliability_sla === undefined
                      ? "nothing"
                      : percent(fit.capability.reliability_sla)}
                    {fit.is_contradicted && <span class="mark bad"> ✗ contradicted</span>}
                  </td>
                  <td>{fit.standing}</td>
                  <td>{fit.in_flight ?? 0}</td>
                  <td>{fit.credit ?? "not connected"}</td>
                  <td>{fit.mean_ms === undefined ? "unknown" : durationText(fit.mean_ms)}</td>
                  <td>
                    <Text
                      value={
                        [fit.behind ?? "", ...fit.reasons].filter(Boolean).join("; ") || "first"
                      }
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {leftOut.length > 0 && (
        <>
          <h3>Left out</h3>
          <ul>
            {leftOut.map(({ agent_id: agent, capability, version, reasons }) => (
              <li key={`${agent} ${capability} ${version}`}>
                <strong>
                  <Text value={agent} />
                </strong>
                , <Text value={`${capability} ${version}`} />: <Text value={reasons.join("; ")} />
              </li>
            ))}
          </ul>
        </>
      )}
      {next !== undefined && <p class="note">There are more candidates than the hub considered.</p>}
    </div>
  );
}
