/// <reference types="node" />
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AttackClass } from "../attack-class.ts";
import type { Place } from "../toolkit/place.ts";
import { attack } from "./attack-process.ts";
import { Disk } from "./disk.ts";
import type { Facts } from "./facts.ts";
import { temporaryFolder } from "./folder.ts";
import { HonestProcess } from "./honest-process.ts";
import type { Joined } from "./honest-process.ts";
import { HubProcess } from "./hub-process.ts";
import type { HubOptions } from "./hub-process.ts";
import { freePort } from "./free-port.ts";
import { ask, Probe } from "./probe.ts";
import { certificate } from "./certificate.ts";

const SETTLE_WITHIN_MS = 20_000;
const JOIN_WITHIN_MS = 10_000;
const RESTARTED_MS = 300;
const WARM_UP_MS = 500;

export interface RunOptions {
  readonly seconds: number;
  readonly quietP99: number;
  readonly command?: HubOptions["command"];
  readonly program?: string | undefined;
}

/** The median of this many quiet phases counts, because a disk may be slow once. */
const QUIET_WINDOWS = 3;

/** The honest p99 of a hub without an attack. */
export async function quiet(seconds: number): Promise<number> {
  const { folder, remove } = temporaryFolder();
  const hub = new HubProcess({ folder, setup: {} });
  try {
    await hub.start();
    const honest = await HonestProcess.start(hub.url);
    await sleep(2 * WARM_UP_MS);
    const found: number[] = [];
    for (let window = 0; window < QUIET_WINDOWS; window++) {
      await honest.begin(`quiet ${window}`);
      await sleep((seconds / QUIET_WINDOWS) * 1000);
      await honest.begin("over");
      found.push((await honest.report(`quiet ${window}`, SETTLE_WITHIN_MS)).p99);
    }
    await honest.end();
    return found.toSorted((a, b) => a - b)[Math.floor(QUIET_WINDOWS / 2)]!;
  } finally {
    await hub.stop();
    remove();
  }
}

/** One class: its own hub with an honest pair, the attack, SIGKILL, the restart. */
export async function runClass(
  attackClass: AttackClass,
  { seconds, quietP99, command, program }: RunOptions,
): Promise<Facts> {
  const { name, from = ["elsewhere"], hub: setup = {} } = attackClass;
  const { folder, remove } = temporaryFolder();
  const disk = setup.diskBytes === undefined ? undefined : new Disk(folder, setup.diskBytes);
  const tls = setup.isTls === true ? certificate(folder) : undefined;
  const peerPort = setup.hasPeer === true ? await freePort("127.0.0.8") : 0;
  const words = [
    ...(setup.arguments ?? []),
    ...(tls?.arguments ?? []),
    ...(peerPort === 0 ? [] : ["--peer", `http://127.0.0.8:${peerPort}`]),
  ];
  const hub = new HubProcess({
    folder: join(folder, "data"),
    setup: { ...setup, arguments: words },
    command,
  });
  const tally: Record<string, number> = {};
  const reasons: Record<string, string> = {};
  const faults: string[] = [];
  const found: string[] = [];
  const newcomers: number[] = [];
  let honest: HonestProcess | undefined;
  try {
    await hub.start();
    honest = await HonestProcess.start(hub.url, tls?.environment);
    await sleep(WARM_UP_MS);
    const place = await placeOf(hub);
    const probe = new Probe(hub.url);
    for (const origin of from) {
      const order = { name, origin, seconds: seconds / from.length, place, peerPort };
      let meanwhile: Promise<Joined> | undefined;
      const begun = (): void => {
        void honest!.begin("attacked");
        // A client that shares its address with an attacker shares its budgets.
        if (origin === "beside") return;
        meanwhile = honest!.join(JOIN_WITHIN_MS);
        // If the hub is gone, nobody awaits it.
        meanwhile.catch(() => undefined);
      };
      const report = await attack(order, begun, program);
      await honest.begin("afterwards");
      if (!hub.isAlive) meanwhile = undefined;
      const joined = await meanwhile;
      if (joined !== undefined) newcomers.push(joined.ms ?? Infinity);
      for (const [outcome, count] of Object.entries(report.tally)) {
        tally[outcome] = (tally[outcome] ?? 0) + count;
      }
      Object.assign(reasons, report.reasons);
      if (report.fault !== undefined) faults.push(report.fault);
    }
    if (disk !== undefined) found.push(...(await disk.judgeFull(hub.url)));
    disk?.grow();
    // A hub that is gone completes nothing.
    const attacked = await honest.report("attacked", hub.isAlive ? SETTLE_WITHIN_MS : 0);
    const loopDelay = await probe.stop();
    const answers = hub.isAlive && (await isAnswering(hub.url));
    const joined = await honest.join(hub.isAlive ? JOIN_WITHIN_MS : 0);
    newcomers.push(joined.ms ?? Infinity);
    const peakMb = hub.peakMb();
    await hub.kill();
    const restart = await hub.start();
    await honest.begin("restarted");
    await sleep(RESTARTED_MS);
    await honest.begin("over");
    const afterwards = await honest.report("afterwards", SETTLE_WITHIN_MS);
    const restarted = await honest.report("restarted", SETTLE_WITHIN_MS);
    const answersAgain = hub.isAlive && (await isAnswering(hub.url));
    return {
      quietP99,
      attacked,
      afterwards,
      restarted,
      loopDelay,
      peakMb,
      answers,
      answersAgain,
      newcomer: Math.max(...newcomers),
      restart,
      restartedMb: hub.peakMb(),
      crashes: hub.crashes,
      lastWords: hub.said,
      tally,
      reasons,
      faults,
      found,
    };
  } finally {
    await honest?.end();
    await hub.stop();
    disk?.close();
    remove();
  }
}

async function placeOf({ url, operatorToken }: HubProcess): Promise<Place> {
  const { hostname, port, protocol } = new URL(url);
  const { text } = await ask(url, "/.well-known/waybill");
  const { hub, domain } = JSON.parse(text) as { hub: string; domain?: string };
  const isTls = protocol === "https:";
  return { host: hostname, port: Number(port), isTls, hub, domain, operatorToken };
}

async function isAnswering(url: string): Promise<boolean> {
  return ask(url, "/healthz").then(
    ({ status }) => status === 200,
    () => false,
  );
}
