import type { Attachment, AttachRequest, Delivery, HubServer } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { answerCalls } from "./answerer.ts";
import type { Answering } from "./answerer.ts";
import { packError } from "./message.ts";
import type { ErrorOnLine } from "./message.ts";

export type HubNews =
  | { readonly of: number; readonly delivery: Delivery }
  | { readonly of: number; readonly closed: ErrorOnLine | null };

interface Frame {
  readonly of: number;
  readonly frame: "taken" | "heartbeat" | "seen" | "setCredit" | "close";
  readonly args: readonly never[];
}

const CALLS: Readonly<
  Record<string, (hub: HubServer, args: readonly never[]) => Promise<unknown>>
> = {
  submit: (hub, [envelope, as]) => hub.submit(envelope!, as),
  publish: (hub, [manifest]) => hub.publish(manifest!),
  manifests: (hub, [query]) => hub.manifests(query!),
  find: (hub, [query]) => hub.find(query!),
  handoff: (hub, [id, as]) => hub.handoff(id!, as!),
};

/** Serves the hub of this process to others. */
export async function serveHub(path: string, hub: HubServer): Promise<void> {
  await answerCalls(path, (tell) => lineTo(hub, tell));
}

function lineTo(hub: HubServer, tell: (news: HubNews) => void): Answering {
  const attachments = new Map<number, Attachment>();
  let isGone = false;

  async function attach(of: number, request: AttachRequest): Promise<void> {
    const attachment = await hub.attach(request, (delivery) => tell({ of, delivery }));
    if (isGone) return attachment.close();
    attachments.set(of, attachment);
    void attachment.closed.then((reason) => {
      attachments.delete(of);
      tell({ of, closed: reason === undefined ? null : packError(reason) });
    });
  }

  return {
    async answer(call, args) {
      if (call === "attach") return attach(args[0] as number, args[1] as AttachRequest);
      const answer = CALLS[call];
      if (answer === undefined) throw new WaybillError(400, `A hub does not know ${call}.`);
      return answer(hub, args as readonly never[]);
    },
    heard(news) {
      const { of, frame, args } = news as Frame;
      const attachment = attachments.get(of);
      if (attachment === undefined) return;
      if (frame === "close") void attachment.close();
      else attachment[frame](...(args as [never, never]));
    },
    gone() {
      isGone = true;
      for (const attachment of attachments.values()) void attachment.close();
    },
  };
}
