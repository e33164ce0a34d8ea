/// <reference types="node" />
import { createServer } from "node:net";
import { LIMITS, WaybillError } from "@waybill/protocol";
import { hubClient } from "../hub/client.ts";
import type { HubClientContext, HubClient } from "../hub/client.ts";
import type { Settings } from "../settings/settings.ts";
import { durationText } from "../terminal/duration.ts";
import { ok, skipped, warning, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks whether a hub answers, whether it accepts work, its clock, and whether the token is valid
 * for it.
 */
export async function checkHub(asking: HubClientContext): Promise<Finding[]> {
  const { settings, signal } = asking;
  let hub: HubClient;
  let response: Response;
  const askedAt = Date.now();
  try {
    hub = hubClient(asking);
    response = await hub.asStranger("/.well-known/waybill");
  } catch (error) {
    signal.throwIfAborted();
    const message = WaybillError.from(error).message.split(/(?<=\.) /);
    return [
      warning("hub", message[0]!, message.slice(1).join(" ")),
      skipped("clock", "Not checked: no hub answers."),
      skipped("token", "Not checked: no hub answers."),
    ];
  }
  const body = (await response.json().catch(() => undefined)) as
    | { readonly hub?: unknown }
    | undefined;
  if (!response.ok || typeof body?.hub !== "string") {
    return [
      wrong(
        "hub",
        `What answers at ${hub.url} is not a Waybill hub.`,
        "Check --hub, and which program listens on that port.",
      ),
    ];
  }
  return [
    await readiness(hub, body.hub),
    checkClock(response.headers.get("date"), askedAt, Date.now()),
    await token(hub, settings),
  ];
}

async function readiness(hub: HubClient, id: string): Promise<Finding> {
  const { ok: isReady } = await hub.asStranger("/readyz");
  return isReady
    ? ok("hub", `${id} at ${hub.url} is ready`)
    : wrong(
        "hub",
        `${id} at ${hub.url} answers, but accepts no work.`,
        "It is shutting down, or can't use its database: look at its log.",
      );
}

/** HTTP dates have a resolution of whole seconds. */
const DATE_GRAIN_MS = 1_000;
const FAR_MS = LIMITS.clockSkewMs / 4;

export function checkClock(date: string | null, askedAt: number, answeredAt: number): Finding {
  const there = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(there)) return skipped("clock", "Not checked: the hub sends no Date header.");
  const apart =
    there < askedAt
      ? Math.max(0, askedAt - there - DATE_GRAIN_MS)
      : Math.max(0, there - answeredAt);
  const says = apart === 0 ? "in step with the hub" : `${durationText(apart)} off the hub's clock`;
  const todo =
    "Set the clocks of both machines by NTP. The hub refuses what is signed with a wrong time.";
  if (apart >= LIMITS.clockSkewMs) return wrong("clock", `This machine is ${says}.`, todo);
  return apart > FAR_MS ? warning("clock", `This machine is ${says}.`, todo) : ok("clock", says);
}

async function token(hub: HubClient, { values, origins }: Settings): Promise<Finding> {
  if (values.token === undefined) {
    return warning(
      "token",
      "No operator token was found.",
      "Run waybill where the hub was started, or give --data, --token or WAYBILL_TOKEN.",
    );
  }
  try {
    await hub.get("/v1/dead-letters?limit=1");
    return ok("token", `from ${origins.token.name}, accepted by the hub`);
  } catch (error) {
    const { message } = WaybillError.from(error);
    return wrong("token", message, "Compare it with operator.token in the hub's data folder.");
  }
}

/** If no hub answers, checks whether one could listen there. */
export async function checkPort(
  { values: { host, port } }: Settings,
  isHubThere: boolean,
): Promise<Finding> {
  if (isHubThere) return skipped("port", "In use by the hub.");
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen({ host, port, exclusive: true }, resolve);
    });
    return ok("port", `${port} on ${host} is free`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return wrong(
      "port",
      `The hub can't listen on port ${port} of ${host} (${code ?? "unknown"}).`,
      "Choose another port: waybill dev --port 0 picks a free one",
    );
  } finally {
    server.close();
  }
}
