import { exportLedger } from "@waybill/hub";
import { openSqliteReader } from "@waybill/store-sqlite";
import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { isGiven, textOf } from "../command-line/given.ts";
import type { Context } from "../context.ts";
import { checkFile } from "../files/read-text.ts";
import { hubClient } from "../hub/client.ts";
import { counted } from "../terminal/text.ts";

/** The output is NDJSON anyway, so `--json` changes nothing. */
export const run: Run = async (context) => {
  const { given, terminal, signal } = context;
  const after = countOf(textOf(given, "after") ?? "0", "after", 0);
  let count = 0;
  for await (const line of isGiven(given, "from-hub")
    ? served(context, after)
    : stored(context, after)) {
    signal.throwIfAborted();
    await terminal.json(line.trimEnd());
    count++;
  }
  terminal.note((style) => style.faint(`${counted(count, "line")} written.`));
};

async function* served(context: Context, after: number): AsyncGenerator<string> {
  const hub = hubClient(context);
  for await (const line of hub.lines(`/v1/ledger?after=${after}`)) yield `${line}\n`;
}

async function* stored({ settings }: Context, after: number): AsyncGenerator<string> {
  checkFile(settings.values.database);
  const reader = await openSqliteReader(settings.values.database);
  try {
    yield* exportLedger(reader, after);
  } finally {
    await reader.close();
  }
}
