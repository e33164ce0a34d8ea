/// <reference types="node" />
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { test } from "vitest";

const MADE = fileURLToPath(new URL("../../python/.venvs/autogen-grpc/", import.meta.url));

/** A Python that has AutoGen: the one that is named, or that which `npm run test:python` has made. */
export const PYTHON: string | undefined =
  process.env["WAYBILL_AUTOGEN_PYTHON"] ??
  (existsSync(`${MADE}.waybill-setup`) ? `${MADE}bin/python` : undefined);

/** A test that needs AutoGen, or says that it was left out. */
export function testWithAutogen(name: string, run: () => Promise<void>): void {
  test(name, async ({ skip }) => {
    if (PYTHON === undefined) skip("needs AutoGen: npm run test:python -- autogen-grpc");
    await run();
  });
}
