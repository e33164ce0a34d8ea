/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";
import { destination, pino } from "pino";
import type { Run } from "../command-line/command.ts";
import { runHub } from "../serving/run-hub.ts";

const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];
const STDERR = 2;

export const run: Run = async (context) => {
  const { log_level: level } = context.settings.values;
  if (!LEVELS.includes(level)) {
    throw new WaybillError(
      400,
      `log_level must be one of ${LEVELS.join(", ")}, and ${JSON.stringify(level)} is not.`,
    );
  }
  const logger = pino({ name: "waybill", level }, destination({ dest: STDERR, sync: true }));
  await runHub(context, { mode: "hub", logger });
};
