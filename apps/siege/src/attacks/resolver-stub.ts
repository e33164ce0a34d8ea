/// <reference types="node" />
// Loaded into the hub's process: names under rebind.test resolve to what their first label says,
// without a name server.
import dns from "node:dns";
import type { LookupAddress, LookupOptions } from "node:dns";
import { syncBuiltinESMExports } from "node:module";

const VICTIM = "127.0.0.9";
/** A public address. Nothing is ever sent there, because an internal address precedes it. */
const OUTER = "93.184.215.14";
const SLOW_MS = 2_000;

type Answered = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;

const v4 = (address: string): LookupAddress => ({ address, family: 4 });
const answers: Readonly<Record<string, (answered: Answered) => void>> = {
  inner: (answered) => answered(null, [v4(VICTIM)]),
  mapped: (answered) => answered(null, [{ address: `::ffff:${VICTIM}`, family: 6 }]),
  mixed: (answered) => answered(null, [v4(VICTIM), v4(OUTER)]),
  many: (answered) =>
    answered(
      null,
      Array.from({ length: 10_000 }, () => v4(VICTIM)),
    ),
  never: () => undefined,
  slow: (answered) => void setTimeout(() => answered(null, [v4(VICTIM)]), SLOW_MS),
  turning: (answered) => answered(null, [v4("0.0.0.0"), v4(VICTIM)]),
};

const lookup = dns.lookup as unknown as (
  name: string,
  options: LookupOptions,
  answered: (error: NodeJS.ErrnoException | null, found: unknown, family?: number) => void,
) => void;

function stubbed(
  name: string,
  given: LookupOptions | ((...answer: never[]) => void),
  callback?: (...answer: unknown[]) => void,
): void {
  const options = typeof given === "function" ? {} : given;
  const called = (typeof given === "function" ? given : callback) as (...answer: unknown[]) => void;
  if (!name.endsWith(".rebind.test")) return lookup(name, options, called);
  const answer = answers[name.split("-")[0]!];
  const failure = Object.assign(new Error("It has no address."), { code: "ENOTFOUND" });
  if (answer === undefined) return called(failure);
  answer((error, found) => {
    if (options.all === true) return called(error, found);
    called(error, found[0]?.address, found[0]?.family);
  });
}

Object.assign(dns, { lookup: stubbed });
syncBuiltinESMExports();
