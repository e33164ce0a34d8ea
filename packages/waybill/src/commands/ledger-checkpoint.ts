import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { readHead } from "../hub/head.ts";

export const run: Run = async ({ settings, terminal, signal }) => {
  const head = await readHead(hubClient({ settings, terminal, signal }));
  await terminal.answer(head, () => head.checkpoint);
  terminal.note((style) =>
    style.faint(
      `Signed by the hub: entry ${head.sequence} is the last one. Keep it where the hub can't write.`,
    ),
  );
};
