import type { HandoffBody } from "@waybill/protocol";

/** The work itself in the three forms that frameworks use, and the files that go along. */
export type PortableWork = Pick<HandoffBody, "input" | "brief" | "messages" | "artifacts">;

/**
 * The work in a handoff's body without undefined members: a framework that checks for keys would take
 * those as given.
 */
export function portableOf({ input, brief, messages, artifacts }: PortableWork): PortableWork {
  return {
    ...(input === undefined ? {} : { input }),
    ...(brief === undefined ? {} : { brief }),
    ...(messages === undefined ? {} : { messages }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
}
