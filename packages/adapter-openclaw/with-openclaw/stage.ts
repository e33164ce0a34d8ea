/// <reference types="node" />
import process from "node:process";
import { openGateway } from "../src/index.ts";
import type { Gateway } from "../src/index.ts";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Reply } from "@waybill/scripted-model";
import type { Desk } from "../src/plugin/tools.ts";
import { GatewayProcess, TOKEN } from "./gateway-fixture.ts";
import { LENT_TOOLS, startLending, toolCards } from "./lending.ts";
import { sessionIn, startSwitchboard } from "./switchboard.ts";
import type { SessionLine } from "./switchboard.ts";

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
  const gateway = await GatewayProcess.prepare(`${switchboard.url}/v1`);
  await gateway.configure((config) => {
    const lent = { switchboard: switchboard.url, tools: toolCards() };
    config.plugins = {
      load: { paths: [LENT_TOOLS] },
      entries: { "lent-tools": { enabled: true, config: lent } },
    };
  });
  await gateway.start();
  const { url, workspace } = gateway;
  const made: Place = { url, workspace, switchboard: switchboard.url };
  process.env[PLACE] = JSON.stringify(made);
  const close = async (): Promise<void> => {
    await gateway.dispose();
    await switchboard.close();
  };
  return { ...made, close };
}

/** Who plays a session. */
export interface Cast {
  /** What its model says. */
  model(session: string, request: ModelRequest): Promise<Reply>;
  /** What its tools work with; a served session uses none of them. */
  desk?(session: string): Desk;
}

const casts = new Map<string, Cast>();

let stage: Promise<{ readonly gateway: Gateway; readonly line: SessionLine }> | undefined;

async function openStage() {
  const { url } = await sharedPlace();
  const model = await startScriptedModel((request) => {
    const session = sessionIn(JSON.stringify(request.body))!;
    return casts.get(session)!.model(session, request);
  });
  const tools = await startLending((session) => casts.get(session)!.desk!(session));
  return { gateway: await openGateway({ url, token: TOKEN }), line: { model: model.url, tools } };
}

/** The gateway, as somebody sees it whose sessions are played by this cast. */
export async function gatewayWith(cast: Cast): Promise<Gateway> {
  const { switchboard } = await sharedPlace();
  const { gateway, line } = await (stage ??= openStage());
  return {
    get boot() {
      return gateway.boot;
    },
    listen: (heard) => gateway.listen(heard),
    close: () => gateway.close(),
    async request(method, params, signal) {
      const { sessionKey } = params as { readonly sessionKey?: string };
      if (sessionKey !== undefined && casts.get(sessionKey) !== cast) {
        casts.set(sessionKey, cast);
        const address = `${switchboard}/sessions/${encodeURIComponent(sessionKey)}`;
        await fetch(address, { method: "POST", body: JSON.stringify(line) });
      }
      return gateway.request(method, params, signal);
    },
  };
}
