import type { Run } from "../command-line/command.ts";
import { commandLine, listOf } from "../command-line/given.ts";
import type { Given } from "../command-line/given.ts";
import { handOff } from "../sending/hand-off.ts";
import { workOf } from "../sending/work.ts";

/** The options that define the work: a known id with other work is refused. */
const WORK = ["brief", "message", "version", "file", "save"] as const;

export const run: Run = async (context) => {
  const { given } = context;
  const { capability, input } = given.arguments;
  const words = [capability!, ...(input === undefined ? [] : [input]), ...workIn(given)];
  return handOff(context, {
    command: "send",
    work: await workOf(given),
    again: (handoffId, answer) =>
      commandLine([
        "waybill",
        "send",
        ...words,
        "--handoff",
        handoffId,
        ...(answer === undefined ? [] : ["--answer", answer]),
      ]),
  });
};

function workIn(given: Given): string[] {
  return WORK.flatMap((option) => listOf(given, option).flatMap((value) => [`--${option}`, value]));
}
