import { createReply, signEnvelopes, STATUS } from "@waybill/protocol";
import type {
  HandoffEnvelope,
  NoticeEnvelope,
  PrivateKey,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { Handoff } from "@waybill/protocol/hub";
import type { Cause } from "../custody/handoff-record.ts";

export const DECIDED_WITHOUT_IT = "The group that this one is a member of is decided without it.";

export interface NoticeOptions {
  readonly hub: string;
  readonly key: PrivateKey;
  readonly now: number;
  readonly newId: () => string;
  readonly newSalt: () => string;
  readonly reason: string;
}

/** The hub's signed notice of an end that no party has signed. */
export function noticeOf(
  handoff: HandoffEnvelope,
  state: Handoff,
  { hub, key, now, newId, newSalt, reason }: NoticeOptions,
): VerifiedEnvelope<NoticeEnvelope> {
  const { status, attempts } = state;
  const envelope = createReply(
    handoff,
    {
      kind: "notice",
      from: hub,
      re: state.digest,
      body: {
        status,
        reason,
        data: {
          state: state.state,
          attempts: attempts.map((each) => ({
            number: each.number,
            recipient: each.recipient,
            closed: each.closed,
            status: each.status,
          })),
        },
      },
    },
    { now: () => now, newId, newSalt },
  );
  const [signed] = signEnvelopes([envelope], key);
  return { envelope, ...signed!, kid: key.kid };
}

/** Why it ended, in a sentence for later readers. `waited`: why it waited, if it did. */
export function reasonOf(
  { status, attempts, deadline, recipient }: Handoff,
  cause: Cause | undefined,
  waited: string | undefined,
): string {
  const last = attempts.at(-1);
  const nobody = `nobody was there to be asked${recipient === null ? "" : `: ${recipient} was not attached, or had no room`}`;
  const told = cause === undefined ? "" : `, after ${cause.by} said: ${cause.message}`;
  const tail =
    last === undefined
      ? (waited ?? nobody)
      : `the last of ${attempts.length} attempts, at ${last.recipient}, ended ${last.closed ?? "open"} with ${last.status} ${STATUS[last.status].name}${told}${waited === undefined ? "" : `; then ${waited}`}`;
  if (status === 504)
    return `The deadline ${new Date(deadline).toISOString()} has passed; ${sentence(tail)}`;
  if (status === 508) return `No attempt is left; ${sentence(tail)}`;
  if (status === 499) return `The handoff that this one is part of has ended.`;
  return `Nobody can be asked any more; ${sentence(tail)}`;
}

function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}
