/// <reference types="node" />
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { PeerFixture } from "@waybill/conformance";

const PYTHON = new URL("../../../packages/python/", import.meta.url);

interface PeerOptions {
  /** The side that the process plays, if the framework has several. */
  readonly side?: string;
  readonly names?: PeerFixture["names"];
  readonly streams?: PeerFixture["streams"];
}

/** One side of a framework, in the environment that `npm run test:python` creates for it. */
export function pythonPeer(
  framework: string,
  { side = framework, names = ["player"], streams }: PeerOptions = {},
): PeerFixture {
  return {
    // A getter, so that a machine without the framework can read its other properties. A spread would
    // read this too.
    get command() {
      return [pythonOf(framework), "tests/conformance/peer.py", side];
    },
    names,
    streams,
    cwd: PYTHON,
    env: { PYTHONUNBUFFERED: "1", PYTHONDONTWRITEBYTECODE: "1", ...SILENT },
  };
}

/** The interpreter of the environment that `npm run test:python` creates for a framework. */
export function pythonOf(framework: string): string {
  const bin = process.platform === "win32" ? "Scripts/python.exe" : "bin/python";
  const python = fileURLToPath(new URL(`.venvs/${framework}/${bin}`, PYTHON));
  if (existsSync(python)) return python;
  throw new Error(
    `There is no environment with ${framework} here: npm run test:python -- ${framework} makes it.`,
  );
}

/** Turns off the telemetry of the frameworks. */
export const SILENT: Readonly<Record<string, string>> = {
  DO_NOT_TRACK: "1",
  OTEL_SDK_DISABLED: "true",
  AUTOGEN_DISABLE_RUNTIME_TRACING: "true",
  CREWAI_DISABLE_TELEMETRY: "true",
  CREWAI_DISABLE_TRACKING: "true",
  CREWAI_TRACING_ENABLED: "false",
  CREWAI_DISABLE_VERSION_CHECK: "true",
  CREWAI_TESTING: "true",
};
