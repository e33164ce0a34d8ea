import type { HandoffBody } from "@waybill/protocol";

/** The work itself, in the three shapes in which frameworks think of it, and the files that go along. */
export type PortableWork = Pick<HandoffBody, "input" | "brief" | "messages" | "artifacts">;

/**
 * The work in a handoff's body, without members that are undefined: a framework that looks at names
 * takes those for given.
 */
export function portableOf({ input, brief, messages, artifacts }: PortableWork): PortableWork {
  return {
    ...(input === undefined ? {} : { input }),
    ...(brief === undefined ? {} : { brief }),
    ...(messages === undefined ? {} : { messages }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
}
