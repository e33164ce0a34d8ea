import { WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { SettingChange, Store } from "../store.ts";
import { agentDue, BLOB_ROWS, hexOf } from "./rows.ts";
import type { BlobRow, UploadRow } from "./rows.ts";

/**
 * Who may read and refer to a blob: agents that have uploaded it, and the parties of handoffs that
 * refer to it.
 */
export class BlobRights {
  readonly #store: Pick<Store, "setting" | "settings">;

  constructor(store: Pick<Store, "setting" | "settings">) {
    this.#store = store;
  }

  /** The upload of an agent, as its row and parsed. */
  async upload(
    hex: string,
    agent: string,
  ): Promise<{ readonly text: string | null; readonly row: UploadRow | undefined }> {
    const text = await this.#store.setting(BLOB_ROWS.upload(hex, agent));
    return text === undefined
      ? { text: null, row: undefined }
      : { text, row: JSON.parse(text) as UploadRow };
  }

  /** The change that stops the check of an upload at its due time. */
  async withoutDue(hex: string, agent: string, { due }: UploadRow): Promise<SettingChange[]> {
    const name = BLOB_ROWS.due(due, hex, agentDue(agent));
    const from = await this.#store.setting(name);
    return from === undefined ? [] : [{ name, from, to: null }];
  }

  /** The size of a blob that the agent may read; undefined if it may not, or if there is none. */
  async sizeFor(digest: Digest, agent: string): Promise<number | undefined> {
    const hex = hexOf(digest);
    const { row } = await this.upload(hex, agent);
    const isUploaded = row !== undefined && row.file === undefined;
    if (!isUploaded && !(await this.isReader(hex, agent))) return undefined;
    return (await this.blob(hex))?.row.size;
  }

  /** Whether the agent is party to a handoff for which the blob is kept. */
  async isReader(hex: string, agent: string): Promise<boolean> {
    return (await this.#store.settings(BLOB_ROWS.readers(hex, agent), { limit: 1 })).length > 0;
  }

  /** The row of a blob, without a check of rights. */
  async blob(hex: string): Promise<{ readonly text: string; readonly row: BlobRow } | undefined> {
    const text = await this.#store.setting(BLOB_ROWS.blob(hex));
    return text === undefined ? undefined : { text, row: JSON.parse(text) as BlobRow };
  }

  /** The row of a blob that the agent may read. For everybody else the answer reveals nothing. */
  async readable(digest: Digest, agent: string): Promise<BlobRow> {
    const isReadable = (await this.sizeFor(digest, agent)) !== undefined;
    const found = isReadable ? await this.blob(hexOf(digest)) : undefined;
    if (found !== undefined) return found.row;
    throw new WaybillError(
      403,
      `There is no blob ${digest} here that ${agent} may read. A blob can be read by agents that have uploaded all of it, and by the parties to a handoff that names it, as long as it is kept.`,
    );
  }

  /** The row of a blob, for an operator. */
  async readableByOperator(digest: Digest): Promise<BlobRow> {
    const found = await this.blob(hexOf(digest));
    if (found !== undefined) return found.row;
    throw new WaybillError(
      404,
      `There is no blob ${digest} here. A hub keeps the blobs of a handoff for a while after it has ended, and then deletes them.`,
    );
  }
}
