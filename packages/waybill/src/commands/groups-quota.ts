import { WaybillError } from "@waybill/protocol";
import type { Quota } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { isGiven, textOf } from "../command-line/given.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";
import { quotaText } from "../trace/event-text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { group = "" } = given.arguments;
  const number = (name: string, least: number) => {
    const text = textOf(given, name);
    return text === undefined ? undefined : countOf(text, name, least);
  };
  const quota: Quota = { open: number("open", 0), per_minute: number("per-minute", 1) };
  const isLimited = quota.open !== undefined || quota.per_minute !== undefined;
  if (isLimited === isGiven(given, "lift")) {
    throw new WaybillError(
      400,
      `Set a quota: --open <number>, --per-minute <number> or both; or --lift for no limit. To see the current quota: waybill groups list ${printable(group)}`,
    );
  }
  const hub = hubClient({ settings, terminal, signal });
  await hub.post(`/v1/groups/${encodeURIComponent(group)}/quota`, quota);
  await terminal.answer({ group, quota }, (style) =>
    isLimited
      ? `${style.good("✔")} The quota of ${printable(group)}, for all its members together: ${quotaText(quota)}.`
      : `${style.good("✔")} The members of ${printable(group)} have no quota any longer.`,
  );
};
