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

/** What an operator is given for somebody that is to be let in. */
export interface Invitation {
  /** Names it. It is no secret. */
  readonly id: string;
  /** The secret: who has it may enrol one agent, once. */
  readonly token: string;
  readonly agent?: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface NewInvitation {
  /** Left out: for whichever agent comes with it. */
  readonly agent?: string | undefined;
  /** Left out: an hour. */
  readonly expiresMs?: number | undefined;
}

interface InvitationRow {
  readonly token: string;
  readonly agent?: string | undefined;
  readonly expires_at: number;
  readonly used_by?: string;
}

/** Makes an invitation, and the change that puts it into the store. */
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
  /** Who has come in by it. */
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

/** The change that takes an invitation away. One that was used has done what it could. */
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

/** Checks the proof of an invitation, and gives the change that uses it up. */
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
  // Nobody without the token learns whether it was used, or for whom it is.
  checkEnrolment(verify(row.token), claim);
  const { agent, expires_at: expiresAt, used_by: usedBy } = row;
  checkInvitation({ agent, expiresAt, usedBy }, claim.agent, now);
  const to = JSON.stringify({ ...row, used_by: claim.agent } satisfies InvitationRow);
  return { id, isForOne: agent !== undefined, change: { name, from: saved, to } };
}

function settingOf(id: string): string {
  return `invitation ${id}`;
}
