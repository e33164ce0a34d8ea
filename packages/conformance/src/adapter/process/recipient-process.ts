/// <reference types="node" />
// A process that serves through an adapter until it is killed.
import { join } from "node:path";
import process from "node:process";
import { createAgent, loadKey } from "@waybill/agent";
import type { AdapterFixture } from "../fixture.ts";
import { CAPABILITY } from "../sample.ts";
import { ACTS } from "./acts.ts";
import type { ActName } from "./acts.ts";
import { hubOnLine } from "./line.ts";
import type { FromHub, ToHub } from "./line.ts";

const [module = "", act = "", folder = "", id = "", domain = ""] = process.argv.slice(2);
const send = (message: ToHub) => void process.send!(message);
const { hub, take } = hubOnLine({ id, domain }, send);
process.on("message", (message: FromHub) => take(message));
process.on("disconnect", () => process.exit());

const { fixture } = (await import(module)) as { fixture: AdapterFixture };
const key = await loadKey(join(folder, "key.json"));
const agent = createAgent({ id: "worker", key, hub });
const play = ACTS[act as ActName]((told) => send({ told }));
agent.serve(...(await fixture.serve!.offer({ capability: CAPABILITY, act: play, folder })));
await agent.start();
send({ told: "attached" });
