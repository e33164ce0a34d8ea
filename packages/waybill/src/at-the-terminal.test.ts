/// <reference types="node" />
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { describe, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";

const COMMAND = fileURLToPath(new URL("waybill.ts", import.meta.url));
const ACCEPTED = "\u001b[32m✔\u001b[39m accepted by \u001b[1manna";
const CANCELLED = "It was cancelled.";
const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

describe.skipIf(!hasScript)(
  `on a terminal${hasScript ? "" : " (skipped: no script of util-linux on this machine)"}`,
  () => {
    const asked = ["ask", "  How deep? "] as const;
    const writing = ["write", "anna: The harbour is open"] as const;
    const alone = [
      "rest",
      "No agent has accepted it yet. These fit: carl (not connected).",
    ] as const;
    test.each([
      ["a question is asked and answered", ...asked, "42\r", 0, [ACCEPTED, "answered 42"]],
      ["Ctrl-C in a question cancels the handoff", ...asked, "\u0003", 130, [ACCEPTED, CANCELLED]],
      ["what is being written is shown", ...writing, "\u0003", 130, [ACCEPTED, CANCELLED]],
      ["who could take it and is away is named", ...alone, "\u0003", 130, [CANCELLED]],
    ])("%s", async (_, capability, prompt, typed, code, expected) => {
      const place = new Workplace();
      const dev = await startDev(place);
      const hub = await connect(dev.url);
      const anna = createAgent({ id: "anna", key: generateKey(), hub });
      anna.serve("ask", ({ ask }) => ask("How deep?"));
      anna.serve("write", async ({ delta, signal }) => {
        delta("The harbour ");
        delta("is open");
        await once(signal, "abort");
        return null;
      });
      await anna.start();
      const carl = createAgent({ id: "carl", key: generateKey(), hub });
      carl.serve("rest", () => null);
      await carl.start();
      await carl.stop();
      const { NO_COLOR: _no, ...env } = process.env;
      const line = `'${process.execPath}' '${COMMAND}' send ${capability}`;
      const child = spawn("script", ["-qec", line, "/dev/null"], { cwd: place.folder, env });
      let shown = "";
      child.stdout.setEncoding("utf8").on("data", (piece: string) => {
        const isAsked = shown.includes(prompt);
        shown += piece;
        if (!isAsked && shown.includes(prompt)) child.stdin.write(typed);
      });
      const [ended] = (await once(child, "close")) as [number];
      for (const each of expected) expect(shown).toContain(each);
      expect(ended).toBe(code);
      await anna.stop({ mode: "release" });
      await hub.close();
      await place.close();
    });
  },
);
