/// <reference types="node" />
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { WaybillError } from "@waybill/protocol";
import { openGateway } from "../gateway.ts";
import { Announcer } from "./announcer.ts";
import { Errands } from "./errands.ts";
import type { HostConfig, PluginApi } from "./plugin-api.ts";
import { TOOL_NAMES, toolFor } from "./tools.ts";
import type { Desk } from "./tools.ts";

interface OpenDesk extends Desk {
  close(): Promise<void>;
}

const DESKS: unique symbol = Symbol.for("@waybill/adapter-openclaw: desks");

interface Shared {
  [DESKS]?: Map<string, Promise<OpenDesk>>;
}

/**
 * One desk for each folder of notes. The gateway registers a plugin several times in one process, and may
 * load its code several times: two desks would announce everything twice.
 */
const desks: Map<string, Promise<OpenDesk>> = ((globalThis as Shared)[DESKS] ??= new Map());

/** The plugin `waybill` of OpenClaw: its agents hand work to any agent of a hub. */
const plugin: {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  register(api: PluginApi): void;
} = {
  id: "waybill",
  name: "Waybill",
  description: "Hand work to agents of any framework, anywhere.",
  register(api) {
    const stopped = new AbortController();
    const folder = () => join(api.runtime.state.resolveStateDir(), "waybill");
    const open = (): Promise<OpenDesk> => {
      const place = folder();
      const desk = desks.get(place) ?? openDesk(api, place);
      desks.set(place, desk);
      // Another try begins anew.
      desk.catch(() => desks.get(place) === desk && desks.delete(place));
      return desk;
    };
    for (const name of TOOL_NAMES) {
      api.registerTool((context) => toolFor(name, context, open), { name });
    }
    api.registerService({
      id: "waybill",
      // What an earlier process has left is taken up as soon as the hub can be reached.
      start: () => void patiently(open, stopped.signal).catch(() => undefined),
      async stop() {
        stopped.abort();
        const place = folder();
        const desk = desks.get(place);
        desks.delete(place);
        await (await desk?.catch(() => undefined))?.close();
      },
    });
  },
};
export default plugin;

async function openDesk(
  { pluginConfig = {}, config, logger }: PluginApi,
  folder: string,
): Promise<OpenDesk> {
  const { hub: address, agent: id = "openclaw", waitSeconds = 20 } = pluginConfig;
  if (address === undefined) {
    throw new WaybillError(400, "Set plugins.entries.waybill.config.hub to the address of a hub.");
  }
  const errands = await Errands.open(join(folder, "errands.json"));
  const hub = await connect(address);
  const agent = createAgent({ id, hub, key: await loadKey(join(folder, "key.jwk")) });
  const closed = new AbortController();
  const warn = (text: string): void => logger.warn(`waybill: ${text}`);
  // The gateway takes connections only once its plugins have started.
  const gateway = patiently(() => openGateway(ownGateway(config)), closed.signal);
  const announcer = gateway.then(async (reached) => {
    const made = new Announcer(agent, reached, errands, warn);
    await made.resume();
    return made;
  });
  announcer.catch((error: unknown) => closed.signal.aborted || warn(String(error)));
  return {
    agent,
    hub,
    waitMs: waitSeconds * 1000,
    async keep(errand) {
      await errands.put(errand);
      // What the session was told before is in its transcript by now.
      announcer.then((made) => made.tidy(errand.sessionKey)).catch(() => undefined);
    },
    announce: (errand, handle) => void announcer.then((made) => made.announce(errand, handle)),
    async close() {
      closed.abort();
      await agent.stop();
      await (await gateway.catch(() => undefined))?.close();
      await hub.close();
    },
  };
}

/** Tries until it works, or until the signal fires. */
async function patiently<Value>(
  attempt: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

const PAUSE_MS = 500;

/** The gateway that the plugin runs in, as one of its clients. */
function ownGateway({ gateway = {} }: HostConfig): { url: string; token: string | undefined } {
  const { token } = gateway.auth ?? {};
  return {
    url: `ws://127.0.0.1:${gateway.port ?? 18789}`,
    token: typeof token === "string" ? token : process.env["OPENCLAW_GATEWAY_TOKEN"],
  };
}
