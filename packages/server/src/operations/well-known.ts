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
      summary: "An overview of the hub with links: a page for browsers, JSON or text for others.",
      cost: "O(1): a page of fixed length.",
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
      summary:
        "The identity of this hub, with its signed manifest, and the addresses of everything else.",
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
      summary: "How an agent joins with only an HTTP client.",
      cost: "O(1): a page that is generated once.",
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
        "Whether the hub accepts work: 503 while it shuts down, and if its store can't commit.",
      cost: "O(1): one read; after a failed commit, at most one probe a second.",
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
      summary: "Metrics for Prometheus: for operators, and on a loopback hub for everybody.",
      cost: "O(operations and attached agents): one sample for each status of an operation, and the sum of the agents' load.",
      who: "local",
      answer: Exposition.contentType,
      refusals: [],
      handle: ({ served }) => served.metrics.text(),
    }),
    operation({
      id: "getDescription",
      method: "GET",
      path: "/openapi.json",
      summary: "This OpenAPI description.",
      cost: "O(1): a document that is generated once.",
      who: "anyone",
      answer: "application/json",
      refusals: [],
      handle: ({ served }) => Promise.resolve(served.openapi()),
    }),
  ];
}
