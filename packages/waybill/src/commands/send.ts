import type { Run } from "../command-line/command.ts";
import { commandLine } from "../command-line/given.ts";
import { handOff } from "../sending/hand-off.ts";
import { workOf } from "../sending/work.ts";

export const run: Run = async (context) => {
  const { capability, input } = context.given.arguments;
  const words = [capability!, ...(input === undefined ? [] : [input])];
  return handOff(context, {
    command: "send",
    work: await workOf(context.given),
    again: (handoffId, answer) =>
      commandLine(["waybill", "send", ...words, "--handoff", handoffId, "--answer", answer]),
  });
};
