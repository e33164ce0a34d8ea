import { WaybillError } from "@waybill/protocol";
import { defaultNewcomers, httpShapes } from "@waybill/protocol/wire";
import { Exposition } from "../metrics/exposition.ts";
import { FRONT_HEADERS, frontHtml, frontJson, frontText } from "../front/front.ts";
import { skillPage } from "../skill/skill.ts";
import { operation, Page } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const MARKDOWN = "text/markdown; charset=utf-8";

export function wellKnownOperations(): readonly AnyOperation[] {
  const { wellKnown, health } = httpShapes();
  return [
    operation({
      id: "getFront",
      method: "GET",
      path: "/",
      summary: "What this is and where to go: a page for a browser, JSON or text for others.",
      cost: "O(1): a page of a fixed length.",
      who: "anyone",
      answer: "text/html; charset=utf-8",
      otherTypes: ["application/json", "text/plain"],
      refusals: [],
      async handle({ served: { hub, url }, accepts }) {
        const facts = { url, hub: hub.id, domain: hub.domain };
        if (accepts("text/html")) {
          return new Page("text/html; charset=utf-8", frontHtml(facts), FRONT_HEADERS);
        }
        return accepts("application/json")
          ? new Page("application/json", JSON.stringify(frontJson(facts)))
          : new Page("text/plain; charset=utf-8", frontText(facts));
      },
    }),
    operation({
      id: "getHub",
      method: "GET",
      path: "/.well-known/waybill",
      summary: "Who this hub is, by its signed manifest, and where everything else is.",
      cost: "O(1): the newest manifest of the hub.",
      who: "anyone",
      answer: wellKnown,
      refusals: [],
      async handle({ served: { hub, url, ...said }, isLocal }) {
        const newcomers = said.newcomers ?? defaultNewcomers({ isLocal });
        return {
          waybill: 1,
          hub: hub.id,
          domain: hub.domain,
          manifest: (await hub.manifests({ agent: hub.id, newest: true })).manifests[0]!.text,
          newcomers,
          api: `${url}/v1`,
          socket: `${url.replace(/^http/, "ws")}/v1/socket`,
          agents: `${url}/.well-known/waybill/agents/{id}`,
          openapi: `${url}/openapi.json`,
          skill: `${url}/skill.md`,
        };
      },
    }),
    operation({
      id: "getSkill",
      method: "GET",
      path: "/skill.md",
      summary: "How an agent joins that has nothing but an HTTP client.",
      cost: "O(1): a page that is written once.",
      who: "anyone",
      answer: MARKDOWN,
      refusals: [],
      async handle({ served: { hub, url, ...said }, isLocal }) {
        const newcomers = said.newcomers ?? defaultNewcomers({ isLocal });
        const offerSeconds = Math.floor(hub.operator.terms.offerMs / 1000);
        return skillPage({ url, hub: hub.id, domain: hub.domain, offerSeconds, newcomers });
      },
    }),
    operation({
      id: "getHealth",
      method: "GET",
      path: "/healthz",
      summary: "Whether the process is alive.",
      cost: "O(1).",
      who: "anyone",
      answer: health,
      refusals: [],
      handle: async () => ({ status: "ok" }),
    }),
    operation({
      id: "getReadiness",
      method: "GET",
      path: "/readyz",
      summary:
        "Whether it takes work: 503 once it goes down, and where its store would not take a commit.",
      cost: "O(1): one read; after a commit that failed, one probe in a second, however often it is asked.",
      who: "anyone",
      answer: health,
      refusals: [503],
      async handle({ served }) {
        if (served.isEnding) {
          throw new WaybillError(
            503,
            "This hub is shutting down; use another one, or retry later.",
          );
        }
        await served.hub.operator.checkStore();
        return { status: "ok" };
      },
    }),
    operation({
      id: "getMetrics",
      method: "GET",
      path: "/metrics",
      summary: "Metrics for Prometheus: to an operator, and to everybody on a loopback hub.",
      cost: "O(operations and attached agents): one sample for each status of an operation, and the load of each agent added up.",
      who: "local",
      answer: Exposition.contentType,
      refusals: [],
      handle: ({ served }) => served.metrics.text(),
    }),
    operation({
      id: "getDescription",
      method: "GET",
      path: "/openapi.json",
      summary: "This description.",
      cost: "O(1): a document that is written once.",
      who: "anyone",
      answer: "application/json",
      refusals: [],
      handle: ({ served }) => Promise.resolve(served.openapi()),
    }),
  ];
}
