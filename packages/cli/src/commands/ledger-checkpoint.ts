import { parseJson, readCompact } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";

export const run: Run = async ({ settings, terminal, signal }) => {
  const answer = (await hubClient(settings, signal).get("/v1/ledger/checkpoint")) as {
    readonly checkpoint: string;
  };
  const { sequence, hash, at } = parseJson(readCompact(answer.checkpoint).payload) as Record<
    string,
    unknown
  >;
  await terminal.answer(
    { checkpoint: answer.checkpoint, sequence, hash, at },
    () => answer.checkpoint,
  );
  terminal.note((style) =>
    style.faint(
      `It says that entry ${String(sequence)} is the last one. Keep it where the hub can't write.`,
    ),
  );
};
