/**
 * What the sender of a handoff may do after a status. `later`: retry after a while. `elsewhere`:
 * another recipient. `renegotiate`: with other terms. `possible`: retry, but the first attempt may
 * have had effects. `per_flag`: as the `retryable` member of the error says. `once`: one more attempt.
 */
export type Retry =
  | "none"
  | "never"
  | "yes"
  | "later"
  | "elsewhere"
  | "renegotiate"
  | "possible"
  | "per_flag"
  | "once";

/** A row of the table of status codes. */
export interface Status {
  readonly name: string;
  readonly meaning: string;
  readonly retry: Retry;
  /** What a person who meets this status should do next. */
  readonly remedy: string;
}

/** Every status. Nothing else in the project defines a code; everything reads this table. */
export const STATUS = {
  100: {
    name: "RECEIVED",
    meaning: "The hub holds the handoff in durable custody.",
    retry: "none",
    remedy: "Nothing to do: wait for the recipient's acceptance.",
  },
  101: {
    name: "ACCEPTED",
    meaning: "The recipient took the handoff and the contract is bound.",
    retry: "none",
    remedy: "Nothing to do: wait for the result.",
  },
  102: {
    name: "PROGRESS",
    meaning: "The recipient is still working.",
    retry: "none",
    remedy: "Nothing to do: wait for the result.",
  },
  103: {
    name: "INPUT_REQUIRED",
    meaning: "The recipient waits for an answer.",
    retry: "none",
    remedy: "Answer each open question by its id.",
  },
  200: {
    name: "COMPLETED",
    meaning: "The work is done and here is the result.",
    retry: "none",
    remedy: "Acknowledge the result once it is stored.",
  },
  201: {
    name: "DUPLICATE",
    meaning: "The same id with the same digest came before: this is the stored outcome again.",
    retry: "none",
    remedy: "Use the outcome; nothing ran twice.",
  },
  300: {
    name: "RELEASED",
    meaning: "The recipient gave the handoff back, for now.",
    retry: "yes",
    remedy: "Nothing to do: the hub makes the next attempt.",
  },
  301: {
    name: "NO_CREDIT",
    meaning: "The recipient is at its limit.",
    retry: "later",
    remedy: "Send again later, or let the hub pick another recipient.",
  },
  400: {
    name: "MALFORMED",
    meaning: "The message can't be parsed.",
    retry: "never",
    remedy: "Correct the message: the error names the member and the rule.",
  },
  401: {
    name: "UNAUTHENTICATED",
    meaning: "The signature, the key or the time is not valid.",
    retry: "never",
    remedy: "Check that the sender's key is enrolled and current, and that its clock is right.",
  },
  403: {
    name: "FORBIDDEN",
    meaning: "The sender may not do this.",
    retry: "never",
    remedy: "Read the detail: it says who may do this. Act as that party, or ask the operator.",
  },
  404: {
    name: "NO_CAPABILITY",
    meaning: "No agent here does that, or there is nothing of that name.",
    retry: "elsewhere",
    remedy: "Check the name and the version, or publish a manifest that offers the capability.",
  },
  406: {
    name: "CONTRACT_UNACCEPTABLE",
    meaning: "The recipient does not accept these terms; its counter-offer may be attached.",
    retry: "renegotiate",
    remedy: "Offer again with the terms of the counter-offer, or pick another recipient.",
  },
  409: {
    name: "KEY_CONFLICT",
    meaning: "The same id came before with a different digest.",
    retry: "never",
    remedy: "Find out why one id was used for two different contents. Use a new id for new work.",
  },
  410: {
    name: "SUPERSEDED",
    meaning: "The attempt is closed: what it sends is recorded and changes nothing.",
    retry: "never",
    remedy: "Stop the work of this attempt: another attempt, or none, is now current.",
  },
  413: {
    name: "TOO_LARGE",
    meaning: "The message is over a limit.",
    retry: "never",
    remedy: "Send less, or pass large content as an artifact by URL and digest.",
  },
  422: {
    name: "INVALID_INPUT",
    meaning: "The input breaks the capability's input schema.",
    retry: "never",
    remedy: "Correct the input: the error names the place and the rule.",
  },
  424: {
    name: "CHILD_FAILED",
    meaning: "A handoff that this one depends on failed.",
    retry: "per_flag",
    remedy: "Look at each child's status and decide what to do.",
  },
  499: {
    name: "CANCELLED",
    meaning: "The delegator cancelled the handoff.",
    retry: "never",
    remedy: "Nothing to do; hand off again if the work is wanted after all.",
  },
  500: {
    name: "TASK_FAILED",
    meaning: "The recipient's verdict: the work failed.",
    retry: "per_flag",
    remedy: "Read the recipient's error; retry only if it says retryable.",
  },
  501: {
    name: "INTERRUPTED",
    meaning: "The recipient restarted in the middle of the work.",
    retry: "possible",
    remedy: "Check for effects of the first try before you retry.",
  },
  502: {
    name: "LEASE_LOST",
    meaning: "The recipient went silent for longer than its lease.",
    retry: "possible",
    remedy: "Check for effects of the first try before you retry.",
  },
  503: {
    name: "UNREACHABLE",
    meaning: "Nobody took the handoff.",
    retry: "yes",
    remedy: "Check that the recipient is connected, then send again.",
  },
  504: {
    name: "DEADLINE_EXCEEDED",
    meaning: "The handoff ran out of time.",
    retry: "never",
    remedy: "Replay the dead letter with a later deadline if the work is still wanted.",
  },
  508: {
    name: "ATTEMPTS_EXHAUSTED",
    meaning: "Every attempt that the contract allows was made; the handoff is a dead letter.",
    retry: "never",
    remedy: "Read the attempts in the dead letter, fix the cause, then replay it.",
  },
  520: {
    name: "INVALID_OUTPUT",
    meaning: "The output breaks the capability's output schema, or a success came back empty.",
    retry: "once",
    remedy: "Fix the recipient: its output must fit the schema that it published.",
  },
} as const;

/** The number of a status: 200, 404, 520. */
export type StatusCode = keyof typeof STATUS;
/** The names of the status codes, such as `COMPLETED`. */
export type StatusName = (typeof STATUS)[StatusCode]["name"];

/** The row of a status. */
export function statusOf(code: StatusCode): Status {
  return STATUS[code];
}

/** `isStatusCode(418)` is false: only codes of the table are statuses. */
export function isStatusCode(value: unknown): value is StatusCode {
  return typeof value === "number" && Object.hasOwn(STATUS, value);
}

/** Statuses of 400 and above are failures; the others are intermediate or a success. */
export function isFailure(code: StatusCode): boolean {
  return code >= 400;
}
