import type { Attachment, AttachRequest, Delivery, HandoffView, Hub } from "@waybill/hub";
import type { Found, WaybillError } from "@waybill/protocol";
import { Caller } from "./caller.ts";
import { unpackError } from "./message.ts";
import type { HubNews } from "./near-hub.ts";

interface Attached {
  readonly handler: (delivery: Delivery) => void;
  readonly end: (reason: WaybillError | undefined) => void;
}

/** A hub in another process, at the far end of a line. */
export function farHub(path: string, { id, domain }: Pick<Hub, "id" | "domain">): Hub {
  const attached = new Map<number, Attached>();
  let attachments = 0;
  const caller = new Caller(path, heard, (reason) => {
    for (const of of attached.keys()) end(of, reason);
  });

  function heard(news: unknown): void {
    const told = news as HubNews;
    if ("delivery" in told) attached.get(told.of)?.handler(told.delivery);
    else end(told.of, told.closed === null ? undefined : unpackError(told.closed));
  }

  function end(of: number, reason: WaybillError | undefined): void {
    attached.get(of)?.end(reason);
    attached.delete(of);
  }

  async function attach(
    request: AttachRequest,
    handler: (delivery: Delivery) => void,
  ): Promise<Attachment> {
    const of = ++attachments;
    const closed = new Promise<WaybillError | undefined>((resolve) =>
      attached.set(of, { handler, end: resolve }),
    );
    try {
      await caller.call("attach", of, request);
    } catch (error) {
      attached.delete(of);
      throw error;
    }
    const tell = (frame: string, ...args: readonly unknown[]) => caller.tell({ of, frame, args });
    return {
      taken: (...args) => tell("taken", ...args),
      heartbeat: (...args) => tell("heartbeat", ...args),
      delta: (...args) => tell("delta", ...args),
      seen: (...args) => tell("seen", ...args),
      setCredit: (...args) => tell("setCredit", ...args),
      close: async () => tell("close"),
      closed,
    };
  }

  return {
    id,
    domain,
    submit: async (envelope, as) => (await caller.call("submit", envelope, as)) as string,
    publish: async (manifest) => void (await caller.call("publish", manifest)),
    manifests: async (query) =>
      (await caller.call("manifests", query)) as Awaited<ReturnType<Hub["manifests"]>>,
    find: async (query) => (await caller.call("find", query)) as Found,
    handoff: async (handoffId, as) =>
      ((await caller.call("handoff", handoffId, as)) ?? undefined) as HandoffView | undefined,
    attach,
  };
}
