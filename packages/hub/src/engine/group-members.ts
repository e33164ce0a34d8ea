import { isGroupOver, judgeGroup, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope, HandoffState } from "@waybill/protocol";
import type { HandoffRecord, VersionedRecord } from "../custody/handoff-record.ts";

type Rule = NonNullable<HandoffRecord["group"]>;

interface Member {
  readonly version: number;
  readonly index: number;
  readonly state: HandoffState;
  readonly replayedBy: string | null;
}

/** The members of one group, as its rule sees them. */
export class GroupMembers {
  readonly #members = new Map<string, Member>();
  #rule: Rule | undefined;
  #correlationId: string | undefined;

  get size(): number {
    return this.#members.size;
  }

  /** A commit of a member, by any hub. */
  note({ version, record }: VersionedRecord): void {
    const { group, state, replayedBy, correlationId } = record;
    if ((this.#members.get(state.id)?.version ?? -1) >= version) return;
    this.#rule ??= group!;
    this.#correlationId ??= correlationId;
    this.#members.set(state.id, { version, index: group!.index, state: state.state, replayedBy });
  }

  /** Adds a member that is about to be committed. Members agree on the terms, and each has an index of its own. */
  join(envelope: HandoffEnvelope, record: HandoffRecord): void {
    this.#checkTerms(envelope, record);
    const { handoff_id: id, replay_of: replayOf } = envelope;
    const { id: groupId, index } = record.group!;
    for (const [memberId, member] of this.#members) {
      if (memberId === id || member.index !== index || replayOf === memberId) continue;
      // The index of a replayed member belongs to the newest replay, which is a member itself.
      if (member.replayedBy !== null && member.replayedBy !== id) continue;
      throw new WaybillError(
        409,
        `The index ${index} of the group ${groupId} is already used by ${memberId}.`,
        { at: "/group/index" },
      );
    }
    this.note({ version: 0, record });
  }

  #checkTerms({ handoff_id: id }: HandoffEnvelope, record: HandoffRecord): void {
    const { size, join, quorum, id: groupId } = record.group!;
    const [other] = this.#members.keys();
    if (this.#rule === undefined || other === undefined || other === id) return;
    const isSame =
      this.#rule.size === size &&
      this.#rule.join === join &&
      this.#rule.quorum === quorum &&
      this.#correlationId === record.correlationId;
    if (isSame) return;
    throw new WaybillError(
      409,
      `The size, join, quorum or correlation id of this member differs from that of the member ${other} of group ${groupId}.`,
      { at: "/group" },
    );
  }

  /** The commit of a joining member has failed. */
  leave(id: string): void {
    if (this.#members.get(id)?.version !== 0) return;
    this.#members.delete(id);
    if (this.#members.size === 0) this.#rule = this.#correlationId = undefined;
  }

  isDecided(): boolean {
    if (this.#rule === undefined) return false;
    const places = new Map<number, HandoffState>();
    for (const { index, state, replayedBy } of this.#members.values()) {
      // A replay follows its original, and takes its index.
      if (replayedBy === null || !places.has(index)) places.set(index, state);
    }
    const { size, join, quorum, onFailure } = this.#rule;
    const verdict = judgeGroup(places.values(), { size, join, quorum: quorum ?? undefined });
    return isGroupOver(verdict, onFailure);
  }

  /** The members that have not ended. */
  open(): string[] {
    return Array.from(this.#members).flatMap(([id, { state }]) => (state === "open" ? [id] : []));
  }
}
