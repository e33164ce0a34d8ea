/// <reference types="node" />

/** The change of one source file that a test run has to detect. */
export interface Fault {
  /** The absolute path of the source. */
  readonly file: string;
  /** Where the replaced text begins. */
  readonly at: number;
  readonly find: string;
  readonly replace: string;
}

const VARIABLE = "WAYBILL_FAULT";

export function environmentOf(fault: Fault): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(fault) };
}

export function faultOfEnvironment(): Fault {
  const text = process.env[VARIABLE];
  if (text === undefined) throw new Error(`${VARIABLE} is not set: src/run.ts sets it.`);
  return JSON.parse(text) as Fault;
}

export function planted(source: string, { file, at, find, replace }: Fault): string {
  if (!source.startsWith(find, at)) {
    throw new Error(`The text of the fault is not at its place in ${file} any more.`);
  }
  return source.slice(0, at) + replace + source.slice(at + find.length);
}
