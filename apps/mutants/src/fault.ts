/// <reference types="node" />

/** The change of one source that a run of the tests is to see. */
export interface Fault {
  /** The path of the source, absolute. */
  readonly file: string;
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

export function planted(source: string, { file, find, replace }: Fault): string {
  if (source.split(find).length !== 2) {
    throw new Error(`The text of the fault does not occur exactly once in ${file}.`);
  }
  return source.replace(find, () => replace);
}
