import type { Attachment, AttachRequest, Delivery, Hub } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";

/** The messages between the process of a recipient and that of the suite, which has the hub. */
export type ToHub =
  | {
      readonly call: CallName;
      readonly number: number;
      readonly args: readonly unknown[];
    }
  | { readonly frame: Frame; readonly args: readonly unknown[] }
  | { readonly told: string };

export type FromHub =
  | { readonly number: number; readonly value?: unknown }
  | { readonly number: number; readonly error: Parameters<typeof unpacked>[0] }
  | { readonly delivery: Delivery };

type Frame = Exclude<keyof Attachment, "closed">;

type CallName = "submit" | "publish" | "manifests" | "find" | "handoff" | "attach";

const CALLS: {
  readonly [Name in Exclude<CallName, "attach">]: (
    hub: Hub,
    args: readonly never[],
  ) => Promise<unknown>;
} = {
  submit: (hub, [envelope, as]) => hub.submit(envelope!, as),
  publish: (hub, [manifest]) => hub.publish(manifest!),
  manifests: (hub, [query]) => hub.manifests(query!),
  find: (hub, [query]) => hub.find(query!),
  handoff: (hub, [id, as]) => hub.handoff(id!, as!),
};

/** The hub's end of a line: answers one process, until it is gone. */
export function answering(
  hub: Hub,
  send: (message: FromHub) => void,
): { take(message: Exclude<ToHub, { told: string }>): void; gone(): Promise<void> } {
  let attachment: Promise<Attachment> | undefined;
  const answer = async (name: CallName, args: readonly unknown[]): Promise<unknown> => {
    if (name !== "attach") return CALLS[name](hub, args as never[]);
    attachment = hub.attach(args[0] as AttachRequest, (delivery) => send({ delivery }));
    await attachment;
    return undefined;
  };
  return {
    take(message) {
      if ("frame" in message) {
        const { frame, args } = message;
        const [first, second] = args as never[];
        void attachment?.then((attached) => attached[frame](first!, second!));
        return;
      }
      const { number, call, args } = message;
      answer(call, args).then(
        (value) => send({ number, value }),
        (error: unknown) => {
          const { status, message: says } = WaybillError.from(error);
          send({ number, error: { status, message: says } });
        },
      );
    },
    gone: async () => (await attachment)?.close(),
  };
}

/** The other end: the hub, as an agent in the same process would have it. */
export function hubOnLine(
  { id, domain }: Pick<Hub, "id" | "domain">,
  send: (message: ToHub) => void,
): { readonly hub: Hub; take(message: FromHub): void } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let deliver: (delivery: Delivery) => void = () => undefined;
  const ask = (call: CallName, ...args: readonly unknown[]): Promise<never> => {
    const number = ++calls;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(number, answer);
    send({ call, number, args });
    return answer.promise as Promise<never>;
  };
  const tell =
    (frame: Frame) =>
    (...args: readonly unknown[]): void =>
      send({ frame, args });
  return {
    hub: {
      id,
      domain,
      submit: (envelope, as) => ask("submit", envelope, as),
      publish: (manifest) => ask("publish", manifest),
      manifests: (query) => ask("manifests", query),
      find: (query) => ask("find", query),
      handoff: (handoffId, as) => ask("handoff", handoffId, as),
      async attach(request, handler) {
        deliver = handler;
        await ask("attach", request);
        return {
          taken: tell("taken"),
          heartbeat: tell("heartbeat"),
          delta: tell("delta"),
          seen: tell("seen"),
          setCredit: tell("setCredit"),
          close: async () => tell("close")(),
          // Such a process is ended from outside, together with its line.
          closed: new Promise(() => undefined),
        };
      },
    },
    take(message) {
      if ("delivery" in message) return deliver(message.delivery);
      const answer = waiting.get(message.number);
      waiting.delete(message.number);
      if ("error" in message) answer?.reject(unpacked(message.error));
      else answer?.resolve(message.value);
    },
  };
}

function unpacked({ status, message }: Pick<WaybillError, "status" | "message">): WaybillError {
  return new WaybillError(status, message);
}
