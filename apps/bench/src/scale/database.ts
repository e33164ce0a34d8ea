/// <reference types="node" />
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "@waybill/store-sqlite";
import { fill } from "./fill.ts";

/** A file with this many handoffs, written once and then copied. */
export class Database {
  readonly handoffs: number;
  #folder: string | undefined;
  #copies = 0;

  constructor(handoffs: number) {
    this.handoffs = handoffs;
  }

  get #path(): string {
    return join(this.#folder!, "filled.db");
  }

  async make(): Promise<void> {
    if (this.#folder !== undefined) return;
    this.#folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
    const store = await openSqliteStore(this.#path);
    await fill(store, this.handoffs);
    await store.close();
  }

  copy(): string {
    const path = join(this.#folder!, `copy-${++this.#copies}.db`);
    for (const ending of ["", "-log"]) {
      cpSync(this.#path + ending, path + ending, { recursive: true });
    }
    return path;
  }

  remove(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true });
    this.#folder = undefined;
  }
}
