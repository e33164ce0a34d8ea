import { discardPath } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { idOf } from "../command-line/id.ts";
import { hubClient } from "../hub/client.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const id = idOf(given.arguments["id"]!, "the id of a handoff");
  const reason = given.arguments["reason"]!;
  await hubClient({ settings, terminal, signal }).post(discardPath(id), { reason });
  await terminal.answer(
    { discarded: id, reason },
    (style) =>
      `${style.good("✔")} Removed ${id} from the list. Its history stays: waybill trace ${id}`,
  );
};
