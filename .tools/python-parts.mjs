// What `npm run test:python` consists of. Frameworks disagree about what they depend on: one environment each.
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
  // Its workers have nothing of Waybill in them: what is tested is the host that they connect to, by its
  // own tests and by the suite of adapters.
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
};

export function environmentsOf(name) {
  return parts[name].environments ?? [name];
}
