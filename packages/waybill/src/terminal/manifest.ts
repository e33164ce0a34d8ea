import type { Manifest, TakesFrom } from "@waybill/protocol";
import { pairs } from "./columns.ts";
import { durationText } from "./duration.ts";
import type { Style } from "./style.ts";
import { printable, spacedJson } from "./text.ts";

/** An agent's manifest as text for people. */
export function manifestText(manifest: Manifest, style: Style): string {
  const { agent_id, version, description, sequence, keys, capabilities } = manifest;
  const about = pairs(
    [
      ["agent", style.strong(agent_id) + (version === undefined ? "" : ` ${printable(version)}`)],
      ...(description === undefined ? [] : [["says", printable(description)] as const]),
      ["manifest", `number ${sequence}`],
      ...keys.map(({ kid, use, not_after, retired_at }) => {
        const ends = retired_at ?? not_after;
        const what = use === "recovery" ? "recovery key" : "key";
        return [what, style.name(kid) + (ends === undefined ? "" : ` until ${ends}`)] as const;
      }),
    ],
    style.faint,
  );
  const offers = capabilities.map((capability) => capabilityText(capability, style));
  return [about, ...offers].join("\n\n");
}

function capabilityText(capability: Manifest["capabilities"][number], style: Style): string {
  const { name, version, description, tags, takes, input_schema, output_schema } = capability;
  const { timeout_seconds, lease_seconds, max_attempts, effects, reliability_sla, from } =
    capability;
  const rows: [string, string][] = [
    ["takes", takes],
    ["input", printable(spacedJson(input_schema), 200)],
    ["output", printable(spacedJson(output_schema), 200)],
    [
      "terms",
      `${durationText(timeout_seconds * 1000)} at most, ${durationText(lease_seconds * 1000)} lease, ${max_attempts} attempts, effects ${effects}`,
    ],
    ["claims", reliability_sla === 0 ? "no reliability" : `${reliability_sla * 100} % success`],
  ];
  if (from !== undefined) rows.push(["from", printable(fromText(from))]);
  if (tags.length > 0) rows.unshift(["tags", printable(tags.join(", "))]);
  if (description !== undefined) rows.unshift(["says", printable(description)]);
  const title = `${style.strong(printable(name))} ${style.faint(`version ${printable(version)}`)}`;
  return `${title}\n${pairs(rows, style.faint).replaceAll(/^/gm, "  ")}`;
}

/** From whom a capability takes work, if it is restricted. */
export function fromText({ agents = [], keys = [], groups = [] }: TakesFrom): string {
  const parts = Object.entries({ agents, keys, groups }).filter(([, names]) => names.length > 0);
  return parts.map(([kind, names]) => `${kind} ${names.join(", ")}`).join("; ");
}
