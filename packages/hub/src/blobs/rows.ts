import type { Digest } from "@waybill/protocol";

/** A blob that the hub has whole: compared with its digest, and on disk. */
export interface BlobRow {
  readonly size: number;
  /** Its file in the blob store. */
  readonly file: string;
  /** The agent that has brought the file in, and whose share of the hub's space it takes. */
  readonly by: string;
  /** It is about to be removed, unless somebody names it first. */
  readonly is_leaving?: true;
}

/** What one agent has uploaded of a blob, and no envelope of it has named yet. */
export interface UploadRow {
  readonly size: number;
  /** When the agent has last begun to send. */
  readonly at: number;
  /** Of its row in `BLOB_ROWS.due`. */
  readonly due: number;
  /** Where the bytes are, while some are missing; left out once the agent has uploaded all of them. */
  readonly file?: string;
}

const TIME_DIGITS = 16;

/** The part of a digest that names a blob in rows and files. */
export function hexOf(digest: Digest): string {
  return digest.slice("sha256:".length);
}

/** Rows are settings of the store, so that they change in the commit of the handoff that they belong to. */
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
  /** When to look whether something of a blob is to be removed: an agent's upload, or a handoff's hold on it. */
  due: (at: number, hex: string, whose: string): string =>
    `blob-due ${String(at).padStart(TIME_DIGITS, "0")} ${hex} ${whose}`,
} as const;

/** Whose upload a due row is about. */
export function agentDue(agent: string): string {
  return `agent:${agent}`;
}

/** Whose hold on a blob a due row is about. */
export function handoffDue(id: string): string {
  return `handoff:${id}`;
}

/** What a row of `BLOB_ROWS.due` says by its name. */
export function readDue(name: string): {
  readonly at: number;
  readonly hex: string;
  readonly whose: string;
} {
  const [at = "", hex = "", whose = ""] = name.slice(BLOB_ROWS.dues.length).split(" ");
  return { at: Number(at), hex, whose };
}
