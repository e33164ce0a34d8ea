/// <reference types="node" />
import { credentials, makeClientConstructor, Metadata } from "@grpc/grpc-js";
import type { Client, ClientDuplexStream, ServiceError } from "@grpc/grpc-js";
import { onTestFinished } from "vitest";
import type { AutogenHost } from "./host.ts";
import { loadService } from "./proto.ts";
import type { WireMessage } from "./wire.ts";

type Unary = (
  request: object,
  metadata: Metadata,
  callback: (error: ServiceError | null, answer: object) => void,
) => void;

interface ServiceClient extends Client {
  OpenChannel(metadata: Metadata): ClientDuplexStream<WireMessage, WireMessage>;
}

/** Whatever can be said to a host, right or wrong. */
export interface WirePeer {
  send(message: WireMessage): void;
  call(method: string, request: object): Promise<object>;
  /** The next message from the host. */
  next(): Promise<WireMessage>;
  /** How the channel has ended. */
  readonly ended: Promise<string>;
}

export function wirePeer({ address }: AutogenHost, id: string | undefined): WirePeer {
  const Constructor = makeClientConstructor(loadService(), "AgentRpc");
  const client = new Constructor(address, credentials.createInsecure()) as unknown as ServiceClient;
  onTestFinished(() => client.close());
  const metadata = new Metadata();
  if (id !== undefined) metadata.set("client-id", id);
  const channel = client.OpenChannel(metadata);
  const ended = new Promise<string>((resolve) => {
    channel.on("error", (error: ServiceError) => resolve(error.details));
    channel.on("end", () => resolve("end"));
  });
  const received: WireMessage[] = [];
  let wake: () => void = () => undefined;
  channel.on("data", (message: WireMessage) => {
    received.push(message);
    wake();
  });
  return {
    send: (message) => void channel.write(message),
    call: (method, request) =>
      new Promise((resolve, reject) => {
        const unary = (client as unknown as Record<string, Unary>)[method]!.bind(client);
        unary(request, metadata, (error, answer) =>
          error === null ? resolve(answer) : reject(error),
        );
      }),
    async next() {
      while (received.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return received.shift()!;
    },
    ended,
  };
}
