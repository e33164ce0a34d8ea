import { hubLogger, logTo } from "@waybill/hub/served";
import type { HubLoggerOptions } from "@waybill/hub/served";
import { WaybillError } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { runHub } from "../serving/run-hub.ts";

type Level = NonNullable<HubLoggerOptions["level"]>;

const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

export const run: Run = async (context) => {
  const logger = hubLogger({ level: levelOf(context.settings.values.log_level) });
  await runHub(context, { mode: "hub", logger, log: logTo(logger) });
  await new Promise<void>((resolve) => logger.flush(() => resolve()));
};

function levelOf(text: string): Level {
  const level = LEVELS.find((each) => each === text);
  if (level !== undefined) return level;
  throw new WaybillError(
    400,
    `log_level must be one of ${LEVELS.join(", ")}, and ${JSON.stringify(text)} is not.`,
  );
}
