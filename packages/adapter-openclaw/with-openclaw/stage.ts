/// <reference types="node" />
import process from "node:process";
import { openGateway } from "@waybill/adapter-openclaw";
import type { Gateway } from "@waybill/adapter-openclaw";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Reply } from "@waybill/scripted-model";
import { GatewayProcess, TOKEN } from "./gateway-fixture.ts";
import { sessionIn, startSwitchboard } from "./switchboard.ts";

/** The gateway that all cases of a run use, also those in other processes. */
interface Place {
  readonly url: string;
  readonly workspace: string;
  readonly switchboard: string;
}

const PLACE = "WAYBILL_OPENCLAW_PLACE";

let place: Promise<Place & { close(): Promise<void> }> | undefined;

/** The gateway of this run. The first process that asks for it starts it, and its children use it too. */
export function sharedPlace(): Promise<Place & { close(): Promise<void> }> {
  return (place ??= openPlace());
}

async function openPlace() {
  const known = process.env[PLACE];
  // Whoever has started it ends it.
  if (known !== undefined) return { ...(JSON.parse(known) as Place), close: async () => undefined };
  const switchboard = await startSwitchboard();
  const gateway = await GatewayProcess.start(`${switchboard.url}/v1`);
  const { url, workspace } = gateway;
  const made: Place = { url, workspace, switchboard: switchboard.url };
  process.env[PLACE] = JSON.stringify(made);
  const close = async (): Promise<void> => {
    await gateway.dispose();
    await switchboard.close();
  };
  return { ...made, close };
}

type Model = (session: string, request: ModelRequest) => Promise<Reply>;

const models = new Map<string, Model>();

let stage: Promise<{ readonly gateway: Gateway; readonly modelUrl: string }> | undefined;

async function openStage() {
  const { url } = await sharedPlace();
  const model = await startScriptedModel((request) => {
    const session = sessionIn(JSON.stringify(request.body))!;
    return models.get(session)!(session, request);
  });
  return { gateway: await openGateway({ url, token: TOKEN }), modelUrl: model.url };
}

/** The gateway, as somebody sees it whose sessions are played by this model. */
export async function gatewayWith(model: Model): Promise<Gateway> {
  const { switchboard } = await sharedPlace();
  const { gateway, modelUrl } = await (stage ??= openStage());
  return {
    get boot() {
      return gateway.boot;
    },
    listen: (heard) => gateway.listen(heard),
    close: () => gateway.close(),
    async request(method, params, signal) {
      const { sessionKey } = params as { readonly sessionKey?: string };
      if (sessionKey !== undefined && models.get(sessionKey) !== model) {
        models.set(sessionKey, model);
        const line = `${switchboard}/sessions/${encodeURIComponent(sessionKey)}`;
        await fetch(line, { method: "POST", body: modelUrl });
      }
      return gateway.request(method, params, signal);
    },
  };
}
