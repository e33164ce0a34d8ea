import { verifyCheckpoint, verifyLedger } from "@waybill/hub";
import type { Checkpoint, LedgerEntry, LedgerReport } from "@waybill/hub";
import { parseJson, readCompact, verifyManifest, WaybillError } from "@waybill/protocol";
import type { VerifiedManifest } from "@waybill/protocol";
import { CHECK_FAILED } from "../command-line/exit-code.ts";
import type { Run } from "../command-line/command.ts";
import { textOf } from "../command-line/given.ts";
import type { Context } from "../context.ts";
import { entriesOf } from "../files/ledger-file.ts";
import { checkFile, readText } from "../files/read-text.ts";
import { pairs } from "../terminal/columns.ts";
import type { Style } from "../terminal/style.ts";
import { counted } from "../terminal/text.ts";

export const run: Run = async (context) => {
  const { given, settings, terminal } = context;
  const path = given.arguments["file"] ?? settings.values.database;
  const checkpointFile = textOf(given, "checkpoint");
  if (path === "-" && checkpointFile !== undefined) {
    throw new WaybillError(
      400,
      "With --checkpoint, the ledger is read twice, so it can't come from stdin. Name a file.",
    );
  }
  for (const each of [path, checkpointFile ?? "-"]) if (each !== "-") checkFile(each);
  let report = await verifyLedger(entriesIn(path, context));
  let checkpoint: Checkpoint | undefined;
  if (report.holds && checkpointFile !== undefined) {
    checkpoint = await checkpointIn(checkpointFile, path);
    report = await verifyLedger(entriesIn(path, context), { checkpoint });
  }
  await terminal.answer({ ledger: path, ...report }, (style) =>
    reportText(path, report, checkpoint, style),
  );
  return report.holds ? 0 : CHECK_FAILED;
};

const PROGRESS_EVERY = 1_000;

async function* entriesIn(
  path: string,
  { terminal, signal }: Context,
): AsyncGenerator<LedgerEntry> {
  let count = 0;
  for await (const entry of entriesOf(path)) {
    signal.throwIfAborted();
    if (++count % PROGRESS_EVERY === 0)
      terminal.status(`${counted(count, "entry", "entries")} checked`);
    yield entry;
  }
}

function reportText(
  path: string,
  report: LedgerReport,
  checkpoint: Checkpoint | undefined,
  style: Style,
): string {
  if (!report.holds) {
    return [
      `${style.bad("✗")} The ledger ${path} is ${style.strong("not")} intact.`,
      `  ${report.message}`,
      `  ${style.faint("Everything before that entry is intact. Keep the file as it is, and compare it with an earlier backup or export.")}`,
    ].join("\n");
  }
  const { head, entries } = report;
  const rows = [
    ["entries", entries.toLocaleString("en")],
    ["last hash", style.name(head.hash)],
  ] as const;
  const end =
    checkpoint === undefined
      ? "Entries missing at its end show only with a checkpoint: waybill ledger checkpoint"
      : `The hub signed for entry ${checkpoint.sequence} at ${new Date(checkpoint.at).toISOString()}.`;
  return `${style.good("✔")} The ledger ${path} is intact.\n\n${pairs(rows, style.faint)}\n\n${style.faint(end)}`;
}

/** Verified with the hub's keys from its ledger. A rewritten ledger has other keys. */
async function checkpointIn(file: string, ledger: string): Promise<Checkpoint> {
  const text = (await readText(file)).trim();
  let last: VerifiedManifest | undefined;
  for await (const { type, content, at } of entriesOf(ledger)) {
    if (type !== "manifest") continue;
    // A hub's own manifest is the first entry of its ledger.
    if (last !== undefined && agentOf(content) !== last.manifest.agent_id) continue;
    last = verifyManifest(content, { at, previous: last });
    const key = last.keys.get(readCompact(text).kid)?.key;
    if (key !== undefined) return verifyCheckpoint(text, () => key);
  }
  throw new WaybillError(
    401,
    `The checkpoint ${file} is signed with a key that the hub of the ledger ${ledger} never had: it comes from another hub, or the ledger was rewritten.`,
  );
}

function agentOf(manifest: string): unknown {
  const payload = parseJson(readCompact(manifest).payload) as { readonly agent_id?: unknown };
  return payload.agent_id;
}
