// The parts of `npm run test:python`. Frameworks have conflicting dependencies, so each has its own
// environment.
const CORE = ["-m", "waybill_sdk", "-m", "waybill_sdk.blocking"];
const CORE_PACKAGES = ["-p", "waybill_sdk.protocol", "-p", "waybill_sdk.adapter"];

export const parts = {
  core: {
    paths: ["tests", "--ignore-glob=*/with_*"],
    checks: [
      ["ruff", "check", "."],
      ["ruff", "format", "--check", "."],
      ["mypy", "--python-version", "3.10", ...CORE, ...CORE_PACKAGES],
    ],
  },
  autogen: {
    paths: ["tests/with_autogen"],
    checks: [["mypy", "-p", "waybill_sdk.autogen"]],
    suites: ["autogen", "autogen-agent"],
  },
  ag2: {
    paths: ["tests/with_ag2"],
    checks: [["mypy", "-p", "waybill_sdk.ag2"]],
    suites: ["ag2"],
  },
  crewai: {
    paths: ["tests/with_crewai"],
    checks: [["mypy", "-p", "waybill_sdk.crewai"]],
    suites: ["crewai"],
  },
  // Its workers contain nothing of Waybill: the subject is the host to which they connect, with its
  // own tests and the suite of adapters.
  "autogen-grpc": {
    hasWaybill: false,
    host: {
      folder: "packages/adapter-autogen",
      script: "test",
      python: "WAYBILL_AUTOGEN_PYTHON",
    },
    suites: ["autogen-grpc"],
  },
  // Every pair of frameworks of which one is in Python.
  matrix: {
    environments: ["autogen", "ag2", "crewai"],
    host: { folder: "apps/matrix", script: "test:python" },
  },
  // A page of the AI SDK in a browser, in front of a crew.
  chat: {
    environments: ["crewai"],
    host: { folder: "apps/chat", script: "test:python" },
  },
};

export function environmentsOf(name) {
  return parts[name].environments ?? [name];
}
