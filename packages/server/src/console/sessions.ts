/// <reference types="node" />
import { createHash, createHmac, randomBytes } from "node:crypto";
import { parseJson, WaybillError } from "@waybill/protocol";
import { formatTime, OPERATOR_SCHEME, readOperatorRequest } from "@waybill/protocol/wire";
import type { ConsoleRole, OperatorClaim, WireConsoleSession } from "@waybill/protocol/wire";

/** The scheme of the Authorization header of the console. */
export const CONSOLE_SCHEME = "Waybill-Console";

const MESSAGE = "waybill console session 1\n";
/** Short enough for a line of a terminal, and far too long to be guessed within an hour. */
const CODE_BYTES = 16;
const ID_BYTES = 16;
/** A link that nobody has opened. */
const LINK_MS = 3_600_000;
const SESSION_MS = 12 * 3_600_000;
/** When there are more, the oldest link no longer works. */
const LINKS_AT_MOST = 100;

/** A link that was not used yet. */
interface Invited {
  readonly role: ConsoleRole;
  readonly until: number;
}

/** A code that signs in once. */
export interface SignInCode {
  readonly code: string;
  readonly role: ConsoleRole;
  readonly until: number;
}

/**
 * Who is signed in to the console. A session is not stored: its key is derived from the operator
 * token, so it survives a restart of the hub, holds at each hub of the domain, and ends when the
 * operator token is replaced.
 */
export class ConsoleSessions {
  readonly #domain: string;
  readonly #operatorToken: string;
  /** By the digest of the code: comparing it reveals nothing. */
  readonly #invited = new Map<string, Invited>();

  constructor(domain: string, operatorToken: string) {
    this.#domain = domain;
    this.#operatorToken = operatorToken;
  }

  /** Makes a code that signs in once. */
  invite(role: ConsoleRole, now: number): SignInCode {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    const until = now + LINK_MS;
    this.#invited.set(digestOf(code), { role, until });
    const [oldest] = this.#invited.keys();
    if (this.#invited.size > LINKS_AT_MOST) this.#invited.delete(oldest!);
    return { code, role, until };
  }

  /** Opens the session of a code. Whoever could be overheard may only read. */
  open(code: string, now: number, isPrivate: boolean): WireConsoleSession {
    const digest = digestOf(code);
    const invited = this.#invited.get(digest);
    this.#invited.delete(digest);
    if (invited === undefined || invited.until <= now) {
      throw new WaybillError(
        401,
        "This link was already used, or has expired. Print a new one with: waybill console",
      );
    }
    const role = isPrivate ? invited.role : "reader";
    const expiresAt = formatTime(now + SESSION_MS);
    const id = randomBytes(ID_BYTES).toString("base64url");
    const text = JSON.stringify({
      waybill: 1,
      kind: "console_session",
      id,
      role,
      expires_at: expiresAt,
    });
    const session = Buffer.from(text).toString("base64url");
    return { session, key: this.#keyOf(session), role, expires_at: expiresAt };
  }

  /** Reads the Authorization header of one request of a session. */
  read(
    authorization: string,
    now: number,
  ): { readonly claim: OperatorClaim; readonly role: ConsoleRole } {
    const [, session = "", proof = ""] =
      /^Waybill-Console ([\w-]+)\.([\w-]+\.[\w-]+)$/.exec(authorization) ?? [];
    if (session === "") {
      throw new WaybillError(
        401,
        `The Authorization header is not "${CONSOLE_SCHEME} <session>.<payload>.<mac>".`,
      );
    }
    // Only this hub can make the key of a session, so a proof that holds vouches for the session.
    const token = `${this.#domain}.${this.#keyOf(session)}`;
    const claim = readOperatorRequest(`${OPERATOR_SCHEME} ${proof}`, token);
    const { role, expires_at: expiresAt } = parseJson(
      Buffer.from(session, "base64url").toString(),
    ) as unknown as { readonly role: ConsoleRole; readonly expires_at: string };
    if (Date.parse(expiresAt) <= now) {
      throw new WaybillError(
        401,
        "This session of the console has expired. Print a new link with: waybill console",
      );
    }
    return { claim, role };
  }

  #keyOf(session: string): string {
    return createHmac("sha256", this.#operatorToken)
      .update(MESSAGE + session)
      .digest("base64url");
  }
}

function digestOf(code: string): string {
  return createHash("sha256").update(code).digest("base64url");
}
