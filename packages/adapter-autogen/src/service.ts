import { Metadata, status } from "@grpc/grpc-js";
import type { sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { Exchange } from "./exchange.ts";
import type { WireMessage, WireSubscription } from "./wire.ts";
import { Worker } from "./worker.ts";
import type { Channel } from "./worker.ts";

/** The methods that a worker calls. */
export function implementationOf(exchange: Exchange): UntypedServiceImplementation {
  return {
    OpenChannel(channel: Channel) {
      const id = clientOf(channel.metadata);
      if (id === undefined || exchange.worker(id) !== undefined) {
        const details = "client-id is missing, or is that of a worker that is connected.";
        channel.emit("error", { code: status.INVALID_ARGUMENT, details });
        return;
      }
      const worker = new Worker(id, channel);
      exchange.connected(worker);
      // Only then does the worker regard the connection as established.
      channel.sendMetadata(new Metadata());
      channel.on("data", (message: WireMessage) => exchange.received(worker, message));
      channel.on("end", () => channel.end());
      for (const ending of ["cancelled", "end", "error", "close"]) {
        channel.on(ending, () => exchange.gone(worker));
      }
    },

    RegisterAgent: method<{ type: string }>(exchange, (worker, { type }) => {
      const owner = exchange.ownerOf(type);
      if (owner !== undefined) throw new Error(`Agent type ${type} is taken by ${owner}.`);
      exchange.directory.register(type, worker);
      exchange.log({ event: "agent-registered", worker: worker.id, agentType: type });
      return {};
    }),

    AddSubscription: method<{ subscription: WireSubscription | null }>(
      exchange,
      (worker, { subscription }) => {
        if (subscription === null) throw new Error("The subscription is missing.");
        exchange.subscriptions.add(worker, subscription);
        exchange.directory.subscribed(subscription);
        return {};
      },
    ),

    RemoveSubscription: method<{ id: string }>(exchange, (_, { id }) => {
      exchange.subscriptions.remove(id);
      return {};
    }),

    GetSubscriptions: method<object>(exchange, () => ({
      subscriptions: exchange.subscriptions.list(),
    })),
  };
}

/** A method of a connected worker. A refusal must not be UNAVAILABLE, which a worker retries. */
function method<Request>(
  exchange: Exchange,
  answer: (worker: Worker, request: Request) => object,
): (call: ServerUnaryCall<Request, object>, callback: sendUnaryData<object>) => void {
  return ({ metadata, request }, callback) => {
    const worker = exchange.worker(clientOf(metadata) ?? "");
    try {
      if (worker === undefined) throw new Error("client-id is not that of a connected worker.");
      callback(null, answer(worker, request));
    } catch (error) {
      callback({ code: status.INVALID_ARGUMENT, details: (error as Error).message });
    }
  };
}

function clientOf(metadata: Metadata): string | undefined {
  return metadata.get("client-id")[0]?.toString() || undefined;
}
