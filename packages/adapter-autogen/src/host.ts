/// <reference types="node" />
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { WaybillError } from "@waybill/protocol";
import { raisedBy } from "./error-text.ts";
import type { HostEvent } from "./host-event.ts";
import { messageOf, payloadOf } from "./message.ts";
import type { AutogenMessage } from "./message.ts";
import { loadService } from "./proto.ts";
import type { RemoteAgent } from "./remote-agent.ts";
import { Directory } from "./directory.ts";
import { Exchange } from "./exchange.ts";
import { implementationOf } from "./service.ts";
import { BYTES_FROM_WORKER } from "./wire.ts";
import type { AgentId, WirePayload } from "./wire.ts";

/** Where the host listens, and for whom. */
export interface AutogenHostOptions {
  /** Where workers connect, by default 50051; 0 picks a free port. */
  readonly port?: number | undefined;
  /**
   * The interface it listens on, by default only this machine's own. AutoGen's protocol has neither
   * keys nor encryption: whoever reaches the port is a worker.
   */
  readonly hostname?: string | undefined;
  /** Agents elsewhere, by the agent type under which AutoGen agents send to them. */
  readonly agents?: Readonly<Record<string, RemoteAgent>> | undefined;
  /** The time limit of a request from one worker's agent to another's, by default five minutes. */
  readonly timeoutMs?: number | undefined;
  /** How long to wait for a worker with an agent type, by default ten seconds. */
  readonly workerWithinMs?: number | undefined;
  readonly log?: ((event: HostEvent) => void) | undefined;
}

/** A request to an AutoGen agent. */
export interface Question {
  readonly target: AgentId;
  readonly message: AutogenMessage;
  /** Identifies the request, also when it is repeated. */
  readonly run: string;
  /** The message id that the agent sees. It must be unique. */
  readonly requestId: string;
  /** The conversation that this is a turn of; `found` is told whether the agent's worker had it before. */
  readonly conversation?: ConversationOfAgent | undefined;
  /** What the agent is told once the signal fires. AutoGen's protocol has no word for it. */
  readonly stop?: AutogenMessage | undefined;
  readonly signal: AbortSignal;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** A conversation with one agent over several requests. */
export interface ConversationOfAgent {
  readonly thread: string;
  found(hadConversation: boolean): void;
}

/** A running host, to which AutoGen's workers connect. */
export interface AutogenHost {
  /** What `GrpcWorkerAgentRuntime` is given. */
  readonly address: string;
  ask(question: Question): Promise<AutogenMessage>;
  /** Workers that were connected do not come back: AutoGen's never reconnect. */
  close(): Promise<void>;
}

const PORT = 50051;
const TIMEOUT_MS = 300_000;
const WORKER_WITHIN_MS = 10_000;
/** A machine that disappears silently is detected after both. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5000;

/**
 * A host for AutoGen's gRPC workers: `serveAgent` serves their agents, and `agents` are available to
 * them.
 *
 * @example
 * ```ts
 * const translator = remoteAgent(agent, { capability: "translate", reply: "Answer" });
 * const host = await openAutogenHost({ agents: { translator } });
 * ```
 */
export async function openAutogenHost(options: AutogenHostOptions = {}): Promise<AutogenHost> {
  const { port = PORT, hostname = "127.0.0.1", agents = {}, log = () => undefined } = options;
  const { timeoutMs = TIMEOUT_MS, workerWithinMs = WORKER_WITHIN_MS } = options;
  const directory = new Directory();
  const exchange = new Exchange({
    directory,
    agents: new Map(Object.entries(agents)),
    timeoutMs,
    log,
  });
  const server = new Server({
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
    "grpc.max_receive_message_length": BYTES_FROM_WORKER,
  });
  server.addService(loadService(), implementationOf(exchange));
  const bound = await bind(server, hostname, port);
  return {
    address: `${hostname}:${bound}`,
    async ask(question) {
      const { target, message, run, requestId, signal, traceparent, tracestate } = question;
      const payload = payloadOf(message);
      const worker = await directory.find(target.type, workerWithinMs, signal);
      const { conversation } = question;
      conversation?.found(worker.hadBefore(target.type, conversation.thread, run));
      const metadata = {
        ...(traceparent === undefined ? {} : { traceparent }),
        ...(tracestate === undefined ? {} : { tracestate }),
      };
      const request = { target, payload, metadata };
      const stop = question.stop && payloadOf(question.stop);
      const { response, open } = await worker.ask(request, { requestId, run, signal, stop });
      const { error = "", payload: reply } = response;
      if (error !== "" || !reply) throw open.failureIn(error) ?? raisedBy(target.type, error);
      return readReply(target.type, reply);
    },
    async close() {
      exchange.close();
      server.forceShutdown();
    },
  };
}

function readReply(agentType: string, reply: WirePayload): AutogenMessage {
  try {
    return messageOf(reply);
  } catch (cause) {
    const { message } = WaybillError.from(cause);
    throw new WaybillError(520, `The answer of ${agentType} can't be read: ${message}`, {
      cause,
    });
  }
}

function bind(server: Server, hostname: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${hostname}:${port}`, ServerCredentials.createInsecure(), (cause, bound) => {
      if (cause === null) resolve(bound);
      else {
        const what = `Workers can't be let in at ${hostname}:${port}: ${cause.message}`;
        reject(new WaybillError(503, what, { cause }));
      }
    });
  });
}
