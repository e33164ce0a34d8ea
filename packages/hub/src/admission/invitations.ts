import { WaybillError } from "@waybill/protocol";
import {
  checkEnrolment,
  checkInvitation,
  newInvitation,
  readEnrolment,
  readInvitation,
  wrongInvitation,
} from "@waybill/protocol/wire";
import type { EnrolmentClaim } from "@waybill/protocol/wire";
import type { Page, SettingChange, Store } from "../store.ts";

const DEFAULT_MS = 60 * 60 * 1000;

/** What an operator gets for an agent that is to be admitted. */
export interface Invitation {
  /** Identifies the invitation. It is no secret. */
  readonly id: string;
  /** The secret: its holder may enrol one agent, once. */
  readonly token: string;
  readonly agent?: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NewInvitation {
  /** By default for any agent. */
  readonly agent?: string | undefined;
  /** By default an hour. */
  readonly expiresMs?: number | undefined;
}

interface InvitationRow {
  readonly token: string;
  readonly agent?: string | undefined;
  readonly expires_at: number;
  readonly used_by?: string;
}

/** Makes an invitation, and the change that stores it. */
export function invite(
  domain: string,
  { agent, expiresMs = DEFAULT_MS }: NewInvitation,
  now: number,
): { readonly invitation: Invitation; readonly change: SettingChange } {
  const token = newInvitation(domain);
  const { id } = readInvitation(token)!;
  const expiresAt = now + expiresMs;
  const row: InvitationRow = { token, agent, expires_at: expiresAt };
  return {
    invitation: { id, token, agent, expiresAt },
    change: { name: settingOf(id), from: null, to: JSON.stringify(row) },
  };
}

/** An invitation as operators see it later: without its secret. */
export interface KnownInvitation extends Omit<Invitation, "token"> {
  /** The agent that was admitted by it. */
  readonly usedBy?: string | undefined;
}

/** The invitations that are not revoked, by id. */
export async function invitationsOf(
  store: Pick<Store, "settings">,
  { after, limit }: Page<string>,
): Promise<readonly KnownInvitation[]> {
  const page = { limit, ...(after !== undefined && { after: settingOf(after) }) };
  const saved = await store.settings(settingOf(""), page);
  return saved.map(({ name, value }) => {
    const { agent, expires_at: expiresAt, used_by: usedBy } = JSON.parse(value) as InvitationRow;
    return { id: name.slice(settingOf("").length), agent, expiresAt, usedBy };
  });
}

/** The change that revokes an invitation. A used one has had its effect. */
export async function revocation(
  store: Pick<Store, "setting">,
  id: string,
): Promise<SettingChange> {
  const name = settingOf(id);
  const saved = await store.setting(name);
  if (saved === undefined) {
    throw new WaybillError(
      404,
      `There is no invitation ${JSON.stringify(id)} here. To list the invitations: waybill invitations list`,
    );
  }
  const { used_by: usedBy } = JSON.parse(saved) as InvitationRow;
  if (usedBy === undefined) return { name, from: saved, to: null };
  throw new WaybillError(
    409,
    `The invitation ${id} was used by ${usedBy}, so it can't be revoked. To take the agent out of use: waybill agents retire ${usedBy}`,
  );
}

/** Checks the proof of an invitation, and returns the change that uses it up. */
export async function useInvitation(
  store: Pick<Store, "setting">,
  proof: string,
  claim: EnrolmentClaim,
  now: number,
): Promise<{ readonly id: string; readonly isForOne: boolean; readonly change: SettingChange }> {
  const { invitation: id, verify } = readEnrolment(proof);
  const name = settingOf(id);
  const saved = await store.setting(name);
  if (saved === undefined) throw wrongInvitation();
  const row = JSON.parse(saved) as InvitationRow;
  // Without the token nobody learns whether it was used, or for which agent it is.
  checkEnrolment(verify(row.token), claim);
  const { agent, expires_at: expiresAt, used_by: usedBy } = row;
  checkInvitation({ agent, expiresAt, usedBy }, claim.agent, now);
  const to = JSON.stringify({ ...row, used_by: claim.agent } satisfies InvitationRow);
  return { id, isForOne: agent !== undefined, change: { name, from: saved, to } };
}

function settingOf(id: string): string {
  return `invitation ${id}`;
}
