import { textOf } from "@waybill/agent/adapter";
import type { Termination } from "./team.ts";

/** Ends a team after a number of messages. */
export function afterMessages(count: number): Termination {
  return ({ added }) => (added.length >= count ? `${count} messages` : undefined);
}

/** Ends a team after a number of turns. */
export function afterTurns(count: number): Termination {
  return ({ speakers }) => (speakers.length >= count ? `${count} turns` : undefined);
}

/** Ends a team once a text was said, by anybody or by this member. */
export function whenSaid(text: string, by?: string): Termination {
  return ({ added }) => {
    const isSaid = added.some(
      (message) => (by === undefined || message.name === by) && textOf(message).includes(text),
    );
    return isSaid ? `"${text}" was said` : undefined;
  };
}

/** Ends a team once this member has spoken. */
export function whenSpoken(by: string): Termination {
  return ({ speakers }) => (speakers.includes(by) ? `${by} has spoken` : undefined);
}

/** Ends a team once the turn was handed to this target, which then does not get it. */
export function whenHandedTo(name: string): Termination {
  return ({ handoff }) => (handoff?.to === name ? `handed to ${name}` : undefined);
}

/** Ends a team as soon as one of the conditions holds. */
export function anyOf(...conditions: readonly Termination[]): Termination {
  return (progress) => {
    for (const each of conditions) {
      const reason = each(progress);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

/** Ends a team once all of the conditions hold. */
export function allOf(...conditions: readonly Termination[]): Termination {
  return (progress) => {
    const reasons = conditions.map((each) => each(progress));
    return reasons.includes(undefined) ? undefined : reasons.join(" and ");
  };
}
