import type { Run } from "../command-line/command.ts";
import { runHub } from "../serving/run-hub.ts";

/** Listens on this machine only, whatever else is set. */
export const run: Run = async (context) => {
  const { settings } = context;
  const values = {
    ...settings.values,
    host: "127.0.0.1",
    public_url: undefined,
    tls_cert: undefined,
    tls_key: undefined,
    behind_proxy: false,
  };
  await runHub({ ...context, settings: { ...settings, values } }, { mode: "dev" });
};
