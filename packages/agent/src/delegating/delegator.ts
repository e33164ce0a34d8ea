import { isOnBehalfOf, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { isDeclaration } from "../capability/capability.ts";
import type { CapabilityDeclaration, InputOf, OutputOf } from "../capability/capability.ts";
import type { JsonCompatible, JsonLike } from "../capability/json-like.ts";
import type { StandardSchema } from "../capability/standard-schema.ts";
import { declaredHandle, declaredHandoff } from "./declared-handoff.ts";
import type { Delegating } from "./delegating.ts";
import type { HandoffResult } from "./ending.ts";
import { fanOut } from "./fan-out.ts";
import type { FanOutOptions, Settled } from "./fan-out.ts";
import { handoffGroup } from "./group.ts";
import type { GroupHandle, GroupOptions } from "./group.ts";
import type { Handle } from "./handle.ts";
import type { HandoffHandle } from "./handoff-handle.ts";
import type { CheckedOptions, HandoffOptions } from "./options.ts";
import type { ParentWork } from "./parent-work.ts";
import { sessionOf } from "./session.ts";
import { checkAgentId, checkCapabilityName, checkId } from "../ids.ts";

/** The options of `handoff` besides a declared capability: all that the declaration does not state. */
export type DeclaredHandoffOptions<Declaration extends CapabilityDeclaration> = Omit<
  HandoffOptions,
  "capability" | "input"
> &
  (Declaration["input"] extends StandardSchema
    ? { readonly input: InputOf<Declaration> }
    : { readonly input?: JsonLike | undefined });

// Of overloads TypeScript explains the last that could be meant, so the most used one comes last.
/** The methods to hand off, of an agent, and of its running work for children of that work. */
export interface Delegator {
  /**
   * Hands off to an agent with a declared capability. The input is checked before anything is sent,
   * and the output before it is returned: a mismatch is a 422 or a 520 that names the places.
   *
   * @example
   * ```ts
   * const handoff = agent.handoff(research, { input: { topic: "waybills" } });
   * const { output } = await handoff.result;
   * console.log(output.summary);
   * ```
   */
  handoff<Declaration extends CapabilityDeclaration>(
    capability: Declaration,
    options: DeclaredHandoffOptions<Declaration>,
  ): HandoffHandle<OutputOf<Declaration>, Declaration["questions"]>;
  /**
   * Hands off by the name of a capability. `handoff<Report>(…)` states the type of the output, which
   * is not checked. A `handoffId` that was used before finds that handoff again, in this process or
   * after a restart, if the work is the same; for other work it is a 409.
   *
   * @example
   * ```ts
   * const handoff = agent.handoff({ capability: "web_research", input: { topic: "waybills" } });
   * console.log((await handoff.result).output);
   * ```
   */
  handoff<Output = Json | undefined, Input = JsonLike>(
    options: HandoffOptions<Input & JsonCompatible<Input>>,
  ): HandoffHandle<Output>;

  /** Hands off a group, joined by a rule that the hub enforces too: `all`, `any` or a `quorum`. */
  handoffAll<Output = Json | undefined>(
    options: readonly HandoffOptions<JsonLike>[],
    group: GroupOptions,
  ): GroupHandle<Output>;
  /** Hands off a group by a declared capability, joined by a rule that the hub enforces too. */
  handoffAll<Declaration extends CapabilityDeclaration>(
    capability: Declaration,
    inputs: Iterable<InputOf<Declaration>>,
    group: GroupOptions,
  ): GroupHandle<OutputOf<Declaration>, Declaration["questions"]>;
  /** Hands off all of them and reports how each ended, as `Promise.allSettled` does. */
  handoffAll<Declaration extends CapabilityDeclaration>(
    capability: Declaration,
    inputs: Iterable<InputOf<Declaration>>,
    options: FanOutOptions<Declaration> & { readonly settled: true },
  ): Promise<Settled<OutputOf<Declaration>>[]>;
  /**
   * Hands off the inputs in order, with bounded concurrency, and returns the results in the order of
   * the inputs. The first failure cancels the others and is thrown.
   *
   * @example
   * ```ts
   * const results = await agent.handoffAll(research, topics, { concurrency: 4 });
   * const summaries = results.map(({ output }) => output.summary);
   * ```
   */
  handoffAll<Declaration extends CapabilityDeclaration>(
    capability: Declaration,
    inputs: Iterable<InputOf<Declaration>>,
    options?: FanOutOptions<Declaration> & { readonly settled?: false | undefined },
  ): Promise<HandoffResult<OutputOf<Declaration>>[]>;
}

/** All ways to hand off, of an agent, or of its running work. */
export function delegatorOver(delegating: Delegating, parent?: ParentWork): Delegator {
  const { newId } = delegating;
  const plain = (options: CheckedOptions): Handle => {
    checkHandoff(options);
    const handle = delegating.handoff(options, parent);
    parent?.tally.count(handle);
    return handle;
  };
  const declared = (capability: CapabilityDeclaration, options: object) =>
    declaredHandle(capability, plain(declaredHandoff(capability, options)));

  function one(first: CapabilityDeclaration | HandoffOptions, options?: object): unknown {
    return isDeclaration(first) ? declared(first, options ?? {}) : plain(first);
  }

  function all(
    first: CapabilityDeclaration | readonly HandoffOptions[],
    second: Iterable<unknown> | GroupOptions,
    third?: FanOutOptions | GroupOptions,
  ): unknown {
    if (!isDeclaration(first)) {
      // One job: by default the first handoff gives its correlation id to the others.
      const correlationId = first[0]?.correlationId ?? newId();
      return handoffGroup(first.length, second as GroupOptions, (index, group) =>
        plain({ correlationId, ...first[index]!, group }),
      );
    }
    const inputs = [...(second as Iterable<unknown>)];
    const correlationId = newId();
    if (third === undefined || !("join" in third)) {
      return fanOut(inputs, { correlationId, ...third }, (options) => declared(first, options));
    }
    return handoffGroup(inputs.length, third, (index, group) =>
      declared(first, { correlationId, input: inputs[index], group }),
    );
  }

  return { handoff: one, handoffAll: all } as Delegator;
}

/** Ids passed by the application are checked here, and not only by the hub. */
function checkHandoff({
  capability,
  to,
  handoffId,
  correlationId,
  replayOf,
  session,
  onBehalfOf,
}: HandoffOptions): void {
  checkCapabilityName(capability);
  if (to !== undefined) checkAgentId(to, "to");
  checkId(handoffId, "handoffId");
  checkId(correlationId, "correlationId");
  checkId(replayOf, "replayOf");
  sessionOf(session);
  if (onBehalfOf !== undefined && !isOnBehalfOf(onBehalfOf)) {
    throw new WaybillError(
      400,
      "onBehalfOf must have 1 to 128 visible ASCII characters without spaces; use another name, or a hash of it.",
      { at: "/on_behalf_of" },
    );
  }
}
