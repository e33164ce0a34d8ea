/// <reference types="node" />
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Builds the page into a folder, which is emptied first. */
export async function buildPage(folder: string): Promise<void> {
  await build({
    root: fileURLToPath(new URL("../page", import.meta.url)),
    configFile: false,
    envDir: false,
    // What the page does not use of the hub would be named in warnings.
    logLevel: "error",
    base: "/console/",
    mode: "production",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsDir: "",
      assetsInlineLimit: 0,
      target: "es2023",
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1_000,
    },
  });
}
