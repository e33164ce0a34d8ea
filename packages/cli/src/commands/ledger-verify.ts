import { verifyCheckpoint, verifyLedger } from "@waybill/hub";
import type { Checkpoint, LedgerEntry } from "@waybill/hub";
import { verifyManifest, WaybillError } from "@waybill/protocol";
import type { PublicKey } from "@waybill/protocol";
import { CHECK_FAILED } from "../command-line/exit-code.ts";
import type { Run } from "../command-line/command.ts";
import { textOf } from "../command-line/given.ts";
import { entriesOf } from "../files/ledger-file.ts";
import { readText } from "../files/read-text.ts";
import { pairs } from "../terminal/columns.ts";
import { counted } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const path = given.arguments["file"] ?? settings.values.database;
  const checkpointFile = textOf(given, "checkpoint");
  if (path === "-" && checkpointFile !== undefined) {
    throw new WaybillError(
      400,
      "A ledger is read twice against a checkpoint: give it as a file, not on stdin.",
    );
  }
  const checkpoint =
    checkpointFile === undefined ? undefined : await checkpointIn(checkpointFile, path);
  let count = 0;
  const read = async function* (): AsyncGenerator<LedgerEntry> {
    for await (const entry of entriesOf(path)) {
      signal.throwIfAborted();
      if (++count % 1000 === 0)
        terminal.status(`${counted(count, "entry").replace("entrys", "entries")} hold`);
      yield entry;
    }
  };
  const report = await verifyLedger(read(), { checkpoint });
  await terminal.answer({ ledger: path, ...report }, (style) => {
    if (!report.holds) {
      return `${style.bad("✗")} The ledger ${path} does ${style.strong("not")} hold.\n  ${report.message}\n  ${style.faint("Everything before it holds. Keep the file as it is, and compare it with a backup or an export from before.")}`;
    }
    const { head, entries } = report;
    const upTo =
      checkpoint === undefined
        ? style.faint(
            "Whether its end is missing only a checkpoint can tell: waybill ledger checkpoint",
          )
        : style.faint(
            `The hub signed for entry ${checkpoint.sequence} at ${new Date(checkpoint.at).toISOString()}.`,
          );
    const rows = [
      ["entries", entries.toLocaleString("en")],
      ["last hash", style.name(head.hash)],
    ] as const;
    return `${style.good("✔")} The ledger ${path} holds.\n\n${pairs(rows, style.faint)}\n\n${upTo}`;
  });
  return report.holds ? 0 : CHECK_FAILED;
};

async function checkpointIn(file: string, ledger: string): Promise<Checkpoint> {
  const text = (await readText(file)).trim();
  const keys = await keysIn(ledger);
  return verifyCheckpoint(text, (kid) => keys.get(kid));
}

/** The keys that manifests in the ledger list. A ledger written anew has others than the one signed for. */
async function keysIn(ledger: string): Promise<ReadonlyMap<string, PublicKey>> {
  const keys = new Map<string, PublicKey>();
  for await (const { type, content, at } of entriesOf(ledger)) {
    if (type !== "manifest") continue;
    for (const [kid, { key }] of ownKeys(content, at)) keys.set(kid, key);
  }
  return keys;
}

/** None of a manifest that only its predecessor vouches for: that one's keys are in the ledger too. */
function ownKeys(content: string, at: number): ReturnType<typeof verifyManifest>["keys"] {
  try {
    return verifyManifest(content, { at }).keys;
  } catch {
    return new Map();
  }
}
