import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const who = given.arguments["who"]!;
  await hubClient({ settings, terminal, signal }).post("/v1/allowed", { who });
  await terminal.answer(
    { allowed: who },
    (style) => `${style.good("✔")} ${printable(who)} may enrol at this hub now.`,
  );
};
