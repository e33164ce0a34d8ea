/// <reference types="node" />
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { HubServer, Store } from "@waybill/hub";
import { SCHEMA_LIMITS } from "@waybill/protocol/hub";
import { BUDGETS, DOOR_NAMES } from "../budgets.ts";
import type { BudgetName, Budgets } from "../budgets.ts";
import type { Connections } from "../http/connections.ts";
import { Exposition } from "./exposition.ts";
import type { Counter, Histogram } from "./exposition.ts";

export interface MetricsOf {
  readonly hub: HubServer;
  readonly store: Pick<Store, "ledgerHead">;
  readonly budgets: Budgets;
  readonly connections: Pick<Connections, "strangers" | "known">;
  /** How many agents are attached over each kind of connection. */
  readonly lines: () => Readonly<Record<"socket" | "poll" | "webhook", number>>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const NANOSECONDS = 1e9;

/** What the operator of a hub monitors. It names no agent, handoff or capability. */
export class HubMetrics {
  readonly requests: Histogram;
  readonly calls: Histogram;
  readonly #page = new Exposition();
  readonly #ended: Counter;
  readonly #attachments: Counter;
  readonly #failures: Counter;
  readonly #loop = monitorEventLoopDelay({ resolution: 20 });
  readonly #unwatch: () => void;

  constructor({ hub, store, budgets, connections, lines }: MetricsOf) {
    const page = this.#page;
    const { operator } = hub;
    const limits = { ...SCHEMA_LIMITS, ...operator.limits, ...budgets.limits };
    this.requests = page.histogram(
      "waybill_http_request_seconds",
      "Duration of HTTP requests, by route and status; that of a poll includes its wait.",
      SECONDS,
    );
    this.calls = page.histogram(
      "waybill_socket_call_seconds",
      "Duration of calls over sockets, by operation and status.",
      SECONDS,
    );
    this.#ended = page.counter("waybill_handoffs_ended_total", "Handoffs that ended, by status.");
    this.#attachments = page.counter(
      "waybill_attachments_total",
      "Attachments and detachments of agents.",
    );
    this.#failures = page.counter(
      "waybill_failures_total",
      "Faults of the hub or its store; each is in its log.",
    );
    page.read("gauge", "waybill_attached_agents", "Agents that are attached, by line.", () =>
      Object.entries(lines()).map(([line, value]) => ({ labels: { line }, value })),
    );
    page.read("gauge", "waybill_attempts_in_flight", "Attempts that attached agents hold.", () => {
      return operator.load().inFlight;
    });
    page.read("gauge", "waybill_credit", "Attempts that attached agents would take.", () => {
      return operator.load().credit;
    });
    page.read("gauge", "waybill_blob_bytes", "Bytes that blobs and uploads occupy.", () => {
      return operator.blobs().bytes;
    });
    page.read("gauge", "waybill_blob_uploads", "Uploads of blobs that are not complete.", () => {
      return operator.blobs().uploads;
    });
    page.read("counter", "waybill_blob_received_bytes_total", "Received bytes of blobs.", () => {
      return operator.blobs().receivedBytes;
    });
    page.read(
      "gauge",
      "waybill_connections",
      "Connections, by whether their agent has authenticated.",
      () =>
        (["strangers", "known"] as const).map((of) => ({ labels: { of }, value: connections[of] })),
    );
    page.read("gauge", "waybill_budget_limit", "The limit of each budget, in its unit.", () =>
      Object.entries(BUDGETS).map(([budget, { per, unit }]) => {
        return { labels: { budget, per, unit }, value: limits[budget as BudgetName] };
      }),
    );
    page.read("counter", "waybill_budget_hits_total", "Times that a budget was exhausted.", () =>
      DOOR_NAMES.map((budget) => ({ labels: { budget }, value: budgets.hitsOf(budget) })),
    );
    page.read("counter", "waybill_ledger_entries_total", "Entries of the ledger.", async () => {
      return (await store.ledgerHead()).sequence;
    });
    page.read("gauge", "process_resident_memory_bytes", "Memory of the process.", () => {
      return process.memoryUsage.rss();
    });
    page.read("gauge", "nodejs_heap_size_used_bytes", "Used heap of the process.", () => {
      return process.memoryUsage().heapUsed;
    });
    page.read("counter", "process_cpu_seconds_total", "Processor time of the process.", () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
    page.read("gauge", "process_start_time_seconds", "When the process began.", () => {
      return Math.round(Date.now() / 1000 - process.uptime());
    });
    page.read("gauge", "nodejs_eventloop_lag_p99_seconds", "Delay of the event loop.", () => {
      const lag = this.#loop.percentile(99) / NANOSECONDS;
      this.#loop.reset();
      return lag;
    });
    this.#loop.enable();
    this.#unwatch = operator.watch((news) => {
      if (news.event === "ended") this.#ended.add({ status: news.status ?? 0 });
      else if (news.event === "failure") this.#failures.add();
      else if (news.event !== "published") this.#attachments.add({ event: news.event });
    });
  }

  text(): Promise<string> {
    return this.#page.text();
  }

  close(): void {
    this.#unwatch();
    this.#loop.disable();
  }
}
