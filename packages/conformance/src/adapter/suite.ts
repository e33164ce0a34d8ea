/// <reference types="node" />
import { systemClock } from "@waybill/hub";
import type { Cases } from "./case.ts";
import { calledEndingCases } from "./cases/call-ending.ts";
import { calledHostileCases } from "./cases/call-hostile.ts";
import { calledManyCases } from "./cases/call-many.ts";
import { calledMediaCases } from "./cases/call-media.ts";
import { calledSessionCases } from "./cases/call-sessions.ts";
import { calledTalkingCases } from "./cases/call-talking.ts";
import { calledWorkCases } from "./cases/call-work.ts";
import { killedCases } from "./cases/serve-killed.ts";
import { servedEndingCases } from "./cases/serve-ending.ts";
import { servedHostileCases } from "./cases/serve-hostile.ts";
import { servedMediaCases } from "./cases/serve-media.ts";
import { servedManyCases } from "./cases/serve-many.ts";
import { servedSessionCases } from "./cases/serve-sessions.ts";
import { servedStoppingCases } from "./cases/serve-stopping.ts";
import { servedTalkingCases } from "./cases/serve-talking.ts";
import { servedWorkCases } from "./cases/serve-work.ts";
import type { AdapterFixture } from "./fixture.ts";
import { Scene } from "./scene.ts";
import type { SceneOptions } from "./scene.ts";

/** One case of the suite of adapters. */
export interface AdapterCase {
  readonly name: string;
  readonly timeoutMs: number;
  /**
   * Rejects if the adapter does not do what the case says. For a declared gap, resolves to its reason;
   * a stale gap is a failure.
   */
  run(): Promise<string | undefined>;
}

const SERVED: Cases = {
  ...servedWorkCases,
  ...servedMediaCases,
  ...servedEndingCases,
  ...servedStoppingCases,
  ...servedTalkingCases,
  ...servedHostileCases,
  ...servedManyCases,
  ...servedSessionCases,
};

const CALLED: Cases = {
  ...calledWorkCases,
  ...calledMediaCases,
  ...calledEndingCases,
  ...calledTalkingCases,
  ...calledHostileCases,
  ...calledManyCases,
  ...calledSessionCases,
};

/** Enough for a framework that starts slowly on a busy machine. */
const PATIENCE_MS = 20_000;

/** An adapter in a process of its own may have to start it again, with all of its framework. */
const PEER_PATIENCE_MS = 60_000;

export function patienceWith({ peer, startsProcesses = false }: AdapterFixture): number {
  return peer === undefined && !startsProcesses ? PATIENCE_MS : PEER_PATIENCE_MS;
}

/** A gap may mean that the case never ends, so the wait for it is shorter. */
const GAP_PATIENCE_MS = 5_000;

/** How the suite of adapters is run. */
export interface AdapterSuiteOptions {
  /** How long a case may take; after that it counts as a hang. */
  readonly patienceMs?: number | undefined;
}

/** What an adapter has to do in the directions that it has, as cases for any test runner. */
export function adapterSuite(
  fixture: AdapterFixture,
  { patienceMs = patienceWith(fixture) }: AdapterSuiteOptions = {},
): AdapterCase[] {
  const { peer, serve = peer, call = peer, gaps = {} } = fixture;
  const cases = { ...(serve && { ...SERVED, ...killedCases }), ...(call && CALLED) };
  const unknown = Object.keys(gaps).find((name) => !Object.hasOwn(cases, name));
  if (unknown !== undefined) {
    throw new Error(`A gap is declared for "${unknown}", which is not a case of this suite.`);
  }
  if (peer?.command.length === 0) {
    throw new Error(`${fixture.adapter} names no command that starts its process.`);
  }
  const alone = { serving: fixture, calling: fixture };
  return Object.entries(cases).map(([name, check]) => ({
    name,
    timeoutMs: 2 * patienceMs,
    run: () =>
      gaps[name] === undefined
        ? judged(() => runCase(alone, check, patienceMs), undefined)
        : judged(() => runCase(alone, check, Math.min(patienceMs, GAP_PATIENCE_MS)), gaps[name]),
  }));
}

async function judged(run: () => Promise<void>, gap: string | undefined) {
  if (gap === undefined) {
    await run();
    return undefined;
  }
  try {
    await run();
  } catch {
    return gap;
  }
  throw new Error(
    `A gap is declared here, but the case passes: remove the gap. Its reason was: ${gap}`,
  );
}

/** Runs one case in a scene of its own. */
export async function runCase(
  sides: Pick<SceneOptions, "serving" | "calling">,
  check: Cases[string],
  patienceMs: number,
): Promise<void> {
  const isOfProcesses = Object.values(killedCases).includes(check);
  const scene = await Scene.open({ ...sides, time: isOfProcesses ? systemClock() : undefined });
  let timer: NodeJS.Timeout | undefined;
  const impatience = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The case hangs, waiting for ${scene.waitsFor}.`)),
      patienceMs,
    );
  });
  try {
    await Promise.race([check(scene), impatience]);
    await scene.verify();
  } finally {
    clearTimeout(timer);
    await scene.dispose();
  }
}
