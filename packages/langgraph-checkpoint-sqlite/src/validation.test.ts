/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { SqliteSaver } from "./sqlite-saver.ts";

const folders = new Map<SqliteSaver, string>();

const initializer = {
  checkpointerName: "SqliteSaver",
  createCheckpointer() {
    const folder = mkdtempSync(join(tmpdir(), "waybill-checkpoints-"));
    const saver = new SqliteSaver(join(folder, "checkpoints.db"));
    folders.set(saver, folder);
    return saver;
  },
  destroyCheckpointer(saver: SqliteSaver) {
    saver.close();
    rmSync(folders.get(saver)!, { recursive: true });
  },
};

// LangGraph's own suite for checkpointers. It takes its test functions from the global scope.
specTest(initializer);
deltaChannelHistoryTests(initializer);
