import { RequestContext } from "@mastra/core/request-context";
import type { Run } from "@waybill/agent/adapter";

const RUN = "waybill.run";

/** The context of a served run: Mastra passes it to models, tools and sub-agents. */
export function requestContextOf(run: Run): RequestContext {
  const context = new RequestContext();
  context.set(RUN, run);
  return context;
}

/** The served run, if there is one. */
export function servedRun(context: Pick<RequestContext, "get"> | undefined): Run | undefined {
  return context?.get(RUN) as Run | undefined;
}
