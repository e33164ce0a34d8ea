/// <reference types="node" />
import { access, mkdir } from "node:fs/promises";
import { extname, join } from "node:path";
import type { ReceivedArtifact } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import { withoutUnseen } from "../terminal/unseen.ts";

/** A file of a result, and its path if it was saved. */
export interface SavedFile {
  readonly name: string;
  readonly path: string;
}

/** Saves the files of a result in a folder, under their own names. Existing files are not replaced. */
export async function saveFiles(
  artifacts: readonly ReceivedArtifact[],
  folder: string,
  signal: AbortSignal,
): Promise<SavedFile[]> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const { message } = WaybillError.from(cause);
    throw new WaybillError(400, `The folder ${folder} can't be created: ${message}.`, { cause });
  }
  const saved: SavedFile[] = [];
  for (const artifact of artifacts) {
    // An artifact with a URL has no content to save.
    if (artifact.url !== undefined) continue;
    const path = await freePath(folder, fileNameOf(artifact.name));
    await artifact.save(path, { signal });
    saved.push({ name: artifact.name, path });
  }
  return saved;
}

/** Saving may take this long after the deadline, plus a second for each MiB. */
const GRACE_MS = 5_000;
const BYTES_PER_MS = 1024;

/** How long saving the files of a result may take: until the handoff's deadline, plus a grace period. */
export function savingTimeMs(artifacts: readonly ReceivedArtifact[], deadline: number): number {
  const bytes = artifacts.reduce((sum, { size = 0 }) => sum + size, 0);
  return Math.max(0, deadline - Date.now()) + GRACE_MS + Math.ceil(bytes / BYTES_PER_MS);
}

const NAME_CHARACTERS = 120;

/** Another agent's file name, made safe: it stays in the folder, and all its characters are visible. */
export function fileNameOf(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  const plain = withoutUnseen(last, "").replaceAll(/[<>:"|?*]/g, "_");
  const visible = plain.trim().replace(/^\.+/, "");
  const extension = extname(visible).slice(0, NAME_CHARACTERS / 2);
  const stem = Array.from(visible.slice(0, visible.length - extname(visible).length));
  return `${stem.slice(0, NAME_CHARACTERS - extension.length).join("")}${extension}` || "artifact";
}

async function freePath(folder: string, name: string): Promise<string> {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  for (let count = 1; ; count++) {
    const path = join(folder, count === 1 ? name : `${stem} (${count})${extension}`);
    const isFree = await access(path).then(
      () => false,
      () => true,
    );
    if (isFree) return path;
  }
}
