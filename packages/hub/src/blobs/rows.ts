import type { Digest } from "@waybill/protocol";

/** A complete blob: verified by its digest, and on disk. */
export interface BlobRow {
  readonly size: number;
  /** Its file in the blob store. */
  readonly file: string;
  /** The agent that has uploaded the file, and whose allowance it counts against. */
  readonly by: string;
  /** It is marked for removal, unless somebody refers to it first. */
  readonly is_leaving?: true;
}

/** An agent's upload of a blob that no envelope of it has referred to yet. */
export interface UploadRow {
  readonly size: number;
  /** When the agent has last begun to send. */
  readonly at: number;
  /** Of its row in `BLOB_ROWS.due`. */
  readonly due: number;
  /** Where the bytes are while some are missing; absent once the agent has uploaded all of them. */
  readonly file?: string;
}

const TIME_DIGITS = 16;

/** The part of a digest that identifies a blob in rows and files. */
export function hexOf(digest: Digest): string {
  return digest.slice("sha256:".length);
}

/** Rows are settings of the store, so that they change in the commit of their handoff. */
export const BLOB_ROWS = {
  blobs: "blob ",
  blob: (hex: string): string => `blob ${hex}`,
  uploads: "blob-upload ",
  uploadsOf: (hex: string): string => `blob-upload ${hex} `,
  upload: (hex: string, agent: string): string => `blob-upload ${hex} ${agent}`,
  readers: (hex: string, agent?: string): string =>
    agent === undefined ? `blob-reader ${hex} ` : `blob-reader ${hex} ${agent} `,
  reader: (hex: string, agent: string, handoffId: string): string =>
    `blob-reader ${hex} ${agent} ${handoffId}`,
  dues: "blob-due ",
  /**
   * When to check whether something of a blob is to be removed: an agent's upload, or a handoff's
   * reference.
   */
  due: (at: number, hex: string, whose: string): string =>
    `blob-due ${String(at).padStart(TIME_DIGITS, "0")} ${hex} ${whose}`,
} as const;

/** The agent of an upload's due row. */
export function agentDue(agent: string): string {
  return `agent:${agent}`;
}

/** The handoff of a reference's due row. */
export function handoffDue(id: string): string {
  return `handoff:${id}`;
}

/** The meaning of the name of a `BLOB_ROWS.due` row. */
export function readDue(name: string): {
  readonly at: number;
  readonly hex: string;
  readonly whose: string;
} {
  const [at = "", hex = "", whose = ""] = name.slice(BLOB_ROWS.dues.length).split(" ");
  return { at: Number(at), hex, whose };
}
