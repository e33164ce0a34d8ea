import { STATUS, isStatusCode } from "@waybill/protocol";
import type { Standing } from "../hub/handoffs.ts";
import type { Verdict } from "../trust/check.ts";
import { visible } from "./text.tsx";

const SIGNS: Readonly<Record<Standing, readonly [sign: string, tone: string]>> = {
  waiting: ["○", "quiet"],
  offered: ["◔", "quiet"],
  accepted: ["◑", "busy"],
  asks: ["?", "warn"],
  completed: ["✓", "good"],
  failed: ["✗", "bad"],
  cancelled: ["–", "quiet"],
  "dead letter": ["!", "bad"],
};

/** Where a handoff stands, never by colour alone. */
export function StandingMark({ standing }: { readonly standing: Standing }) {
  const [sign, tone] = SIGNS[standing];
  return (
    <span class={`mark ${tone}`}>
      <span aria-hidden="true">{sign}</span> {standing}
    </span>
  );
}

/** A status with its name, explained to whoever points at it. */
export function StatusText({ status }: { readonly status: number }) {
  if (!isStatusCode(status)) return <span>{status}</span>;
  const { name, meaning } = STATUS[status];
  return (
    <span title={meaning}>
      {status} {name}
    </span>
  );
}

const VERDICTS: Readonly<Record<Verdict["type"] | "waiting", readonly [string, string, string]>> = {
  checked: ["✓", "good", "checked here"],
  unsigned: ["·", "quiet", "not signed: the hub's own decision"],
  broken: ["✗", "bad", "does not hold"],
  waiting: ["…", "quiet", "not checked yet"],
};

/** What this browser found out about a signature. */
export function VerdictMark({ verdict }: { readonly verdict: Verdict | undefined }) {
  const [sign, tone, says] = VERDICTS[verdict?.type ?? "waiting"];
  const why = verdict?.type === "broken" ? visible(verdict.why) : undefined;
  return (
    <span class={`mark ${tone}`} title={why}>
      <span aria-hidden="true">{sign}</span> {says}
    </span>
  );
}
