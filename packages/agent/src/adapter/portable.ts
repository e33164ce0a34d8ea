import type { HandoffBody } from "@waybill/protocol";

/** The work itself, in the three shapes in which frameworks think of it, and the files that go along. */
export type PortableWork = Pick<HandoffBody, "input" | "brief" | "messages" | "artifacts">;

/** Members that are there and undefined are not the same as none where a framework looks at names. */
export function portableOf({ input, brief, messages, artifacts }: PortableWork): PortableWork {
  return {
    ...(input === undefined ? {} : { input }),
    ...(brief === undefined ? {} : { brief }),
    ...(messages === undefined ? {} : { messages }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
}
