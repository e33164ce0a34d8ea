import { offerOf, outputOf, textMessage } from "@waybill/agent/adapter";
import type { Offer } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import { filesOf, replyIn } from "./files.ts";
import type { Gateway } from "./gateway.ts";
import { Session } from "./session.ts";
import { asWords, toldOf } from "./to-openclaw.ts";

/** How an agent of a gateway is served. */
export interface ServeAgentOptions {
  /** The agent's id in the gateway's configuration, by default `main`. */
  readonly agentId?: string | undefined;
  /**
   * Keeps the sessions apart from those of others who use the same agent. Give each hub its own, because
   * a delegator of one may have the name of a delegator of another.
   */
  readonly scope?: string | undefined;
}

const CONTINUE =
  "Your last turn ended before the task was done. Look at what you have done already, do what is missing, and reply with the whole result.";

/**
 * An agent of an OpenClaw gateway as a capability.
 *
 * @example
 * ```ts
 * const gateway = await openGateway({ url: "ws://127.0.0.1:18789", token });
 * agent.serve(...serveAgent(gateway, { name: "research" }, { agentId: "researcher" }));
 * ```
 */
export function serveAgent(
  gateway: Gateway,
  capability: CapabilityInput,
  { agentId = "main", scope = "" }: ServeAgentOptions = {},
): Offer {
  return offerOf({
    capability,
    names: [agentId],
    async run(run) {
      const { work, attempt, signal, session } = run;
      const { output_schema: schema } = run.capability;
      const told = toldOf(work, schema);
      const talk = new Session(gateway, agentId, run, scope);
      session?.found(talk.hasOthers(await talk.transcript()));
      const left = attempt === 1 ? undefined : await talk.left();
      const reply =
        left === undefined
          ? await talk.say(told)
          : left === "begun"
            ? await talk.say({ text: CONTINUE, images: [] })
            : left.reply;
      const { text, paths } = replyIn(reply);
      const again = async (question: string) =>
        replyIn(await talk.say({ text: asWords(question), images: [] })).text;
      return {
        output: text === "" && paths.length > 0 ? undefined : await outputOf(text, schema, again),
        messages: work.messages && [textMessage("assistant", text)],
        artifacts: await filesOf(gateway, agentId, paths, signal),
      };
    },
  });
}
