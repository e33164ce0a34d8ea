/// <reference types="node" />
import { hubLogger, logTo } from "@waybill/server";
import type { HubLoggerOptions } from "@waybill/server";
import { WaybillError } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { shownJson } from "../terminal/unseen.ts";
import { runHub } from "../serving/run-hub.ts";

type Level = NonNullable<HubLoggerOptions["level"]>;

const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

export const run: Run = async (context) => {
  const level = levelOf(context.settings.values.log_level);
  // Written synchronously: the last lines before a crash matter most.
  const destination = { write: (line: string) => void process.stderr.write(shownJson(line)) };
  const logger = hubLogger({ level, destination });
  await runHub(context, { mode: "hub", logger, log: logTo(logger) });
};

function levelOf(text: string): Level {
  const level = LEVELS.find((each) => each === text);
  if (level !== undefined) return level;
  throw new WaybillError(
    400,
    `log_level must be one of ${LEVELS.join(", ")}, and ${JSON.stringify(text)} is not.`,
  );
}
