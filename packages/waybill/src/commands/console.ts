/// <reference types="node" />
import { once } from "node:events";
import { WaybillError } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { textOf } from "../command-line/given.ts";
import { servePage } from "../console/serve-page.ts";
import { hubClient } from "../hub/client.ts";

const ROLES = ["operator", "reader"];

/** Serves the page of this package, so that a lying hub can't change what it checks. */
export const run: Run = async (context) => {
  const { given, terminal, signal } = context;
  const role = textOf(given, "role") ?? "operator";
  if (!ROLES.includes(role)) {
    throw new WaybillError(
      400,
      `The role must be one of ${ROLES.join(", ")}, and ${JSON.stringify(role)} is not.`,
    );
  }
  const hub = hubClient(context);
  const { code } = (await hub.post("/v1/console/links", { role })) as { readonly code: string };
  const page = await servePage(hub.url);
  try {
    const link = `${page.url}/console#/in/${code}`;
    await terminal.answer({ hub: hub.url, console: link, role }, (style) =>
      [
        `${style.good("●")} ${style.strong("The console is ready")}`,
        "",
        `  ${style.link(link)}`,
        "",
        style.faint("  The link signs in once, within an hour. Ctrl-C stops serving the page."),
      ].join("\n"),
    );
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await page.close();
  }
};
