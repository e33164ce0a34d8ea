/// <reference types="node" />
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WaybillError } from "@waybill/protocol";
import { Hosts, isLocalOnly, isLoopback } from "./access/hosts.ts";
import { operatorTokenOf } from "./access/operator-token.ts";
import { FairBytes } from "./access/fair-bytes.ts";
import { FairSlots } from "./access/fair-slots.ts";
import { RateLimits } from "./access/rate-limits.ts";
import { FairScheduler } from "./access/fair-scheduler.ts";
import { UsedProofs } from "./access/used-proofs.ts";
import { BODY_BYTES_BESIDE_ENVELOPE } from "./http/body.ts";
import { Connections } from "./http/connections.ts";
import { addRoute } from "./http/routes.ts";
import { httpServer } from "./http/server.ts";
import { checkSocketPath } from "./http/unix-socket.ts";
import { Streams } from "./http/streams.ts";
import { UploadBodies } from "./http/uploads.ts";
import { Polls } from "./inbox/polls.ts";
import { Budgets } from "./budgets.ts";
import { ConsoleSessions } from "./console/sessions.ts";
import { openapi } from "./openapi/openapi.ts";
import { operations } from "./operations/operations.ts";
import { HubMetrics } from "./metrics/hub-metrics.ts";
import type { ServedHub, ServeOptions } from "./options.ts";
import type { Served } from "./served.ts";
import { Sockets } from "./socket/sockets.ts";
import { Webhooks } from "./webhook/webhooks.ts";

const LOOPBACK = "127.0.0.1";
const OPEN_AND_PLAIN =
  "others can reach it, without TLS. Whoever is on the way can read what is handed off, and change what operators are answered; give it a certificate (tls), put a proxy with TLS before it (isBehindProxy), or listen on loopback.";

/**
 * Serves a hub over HTTP and WebSocket to agents in other processes, and to operators.
 *
 * @example
 * ```ts
 * const served = await serveHub({ hub, store, port: 7411 });
 * console.log(`waiting at ${served.url}`);
 * ```
 */
export async function serveHub(options: ServeOptions): Promise<ServedHub> {
  const { hub, store, host = LOOPBACK, port = 0, publicUrl, tls, logger } = options;
  const { isBehindProxy = false } = options;
  const socketPath = options.socketPath === undefined ? undefined : resolve(options.socketPath);
  if (socketPath !== undefined) checkSocketPath(socketPath);
  const isLocal = isLocalOnly({ ...options, host });
  const { isOpenRegistry } = options;
  const newcomers = options.newcomers ?? hub.operator.newcomers;
  const budgets = new Budgets(options.limits);
  const { limits } = budgets;
  const { operator } = hub;
  const operatorToken = await operatorTokenOf(store, hub.domain, options.operatorToken);
  const tolls = new RateLimits(budgets);
  const turns = new FairScheduler(limits.turnMs, () => budgets.hit("turnMs"));
  const largeMessages = new FairBytes(limits.largeBytesPerHub, () =>
    budgets.hit("largeBytesPerHub"),
  );
  const slots = new FairSlots(limits.callsPerHub, {
    waited: () => budgets.hit("callsPerHub"),
    begin: (who, work) => turns.run(who, work),
    mayLeave: true,
  });
  const searchSlots = new FairSlots(limits.searchesPerHub, {
    waited: () => budgets.hit("searchesPerHub"),
    begin: (who, work) => turns.run(who, work),
  });
  const strangerSlots = new FairSlots(limits.strangerCallsPerHub, {
    waited: () => budgets.hit("strangerCallsPerHub"),
    begin: (address, work) => turns.runForStranger(address, work),
  });
  const door = {
    hosts: new Hosts({ ...options, host }),
    tolls,
    bodyBytes: operator.limits.envelopeBytes + BODY_BYTES_BESIDE_ENVELOPE,
  };
  const connections = new Connections(budgets, isBehindProxy);
  const server = httpServer({
    door,
    connections,
    turns,
    largeMessages,
    hubLimits: operator.limits,
    budgets,
    tls,
    logger,
    answered: (route, method, status, seconds) =>
      metrics.requests.observe(seconds, { route, method, status }),
  });
  const polls = new Polls(operator, budgets, tolls);
  const webhooks = new Webhooks({ hub, budgets, innerInboxes: options.innerInboxes ?? [], logger });
  const metrics = new HubMetrics({
    hub,
    store,
    budgets,
    connections,
    lines: () => ({ socket: sockets.count, poll: polls.count, webhook: webhooks.count }),
  });
  const { clockSkewMs } = operator.limits;
  const sessions = new ConsoleSessions(hub.domain, operatorToken);
  const callers = {
    hub,
    sessions,
    operator,
    operatorToken,
    metricsToken: options.metricsToken,
    used: new UsedProofs(clockSkewMs, budgets),
    openedAt: operator.now(),
  };
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const all = operations();
  let description: string | undefined;
  const served: Served = {
    hub,
    store,
    limits,
    polls,
    tolls,
    turns,
    isOpenRegistry,
    isLocal,
    newcomers,
    metrics,
    sessions,
    get isEnding() {
      return closed !== undefined;
    },
    get url() {
      return url;
    },
    closing: closing.signal,
    openapi: () => (description ??= JSON.stringify(openapi(all, url, hub.id))),
  };
  const uploads = new UploadBodies({ budgets, tolls, connections, turns });
  const streams = new Streams({ budgets, connections, turns, tolls });
  for (const operation of all)
    addRoute(server.fastify, operation, {
      served,
      callers,
      connections,
      tolls,
      slots,
      searchSlots,
      strangerSlots,
      door,
      uploads,
      streams,
    });
  const sockets = new Sockets(server.fastify.server, {
    hub,
    newcomers,
    isLocal,
    connections,
    budgets,
    door,
    tolls,
    turns,
    largeMessages,
    slots,
    searchSlots,
    called: (call, status, seconds) => metrics.calls.observe(seconds, { call, status }),
  });
  await server.listen({ host, port, socketPath });
  const bound = (server.fastify.server.address() as AddressInfo).port;
  const scheme = tls === undefined ? "http" : "https";
  const url = (publicUrl ?? `${scheme}://${named(host)}:${bound}`).replace(/\/+$/, "");
  const unixUrl = socketPath === undefined ? undefined : `unix:${socketPath}`;
  logger?.info({ url, unix_url: unixUrl, hub: hub.id }, "listening");
  if (!isLoopback(host) && !isBehindProxy && tls === undefined) {
    // Emitted twice: an operator without a log must see it too.
    logger?.warn({ host }, OPEN_AND_PLAIN);
    process.emitWarning(`The hub ${hub.id} listens on ${host}: ${OPEN_AND_PLAIN}`, {
      code: "WAYBILL_OPEN_HUB",
    });
  }

  await webhooks.start();

  const close = async () => {
    // A load balancer has to see it at /readyz before connections are closed.
    if (limits.readinessGraceMs > 0) await sleep(limits.readinessGraceMs);
    closing.abort();
    polls.close();
    const drained = webhooks.close();
    await sockets.close(
      new WaybillError(503, `The hub ${hub.id} is shutting down; attach again later.`),
    );
    await drained;
    await server.close(limits.closeMs);
    connections.close();
    metrics.close();
    logger?.info({ url }, "closed");
  };
  return {
    url,
    port: bound,
    unixUrl,
    operatorToken,
    consoleLink: (role = "operator") => consoleLink(url, sessions.invite(role, operator.now())),
    close: () => (closed ??= close()),
  };
}

/** The code is behind the `#`, so it is neither sent with the page nor in anybody's log. */
function consoleLink(url: string, { code }: { readonly code: string }): string {
  return `${url}/console#/in/${code}`;
}

function named(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
