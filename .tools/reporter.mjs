// An additional vitest reporter: writes what `npm test` adds up, including the reason of every skip.
// vitest's own JSON omits reasons and errors outside tests.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

export const reportFile = ".turbo/tests.json";

export default class Reporter {
  onInit(vitest) {
    this.folder = vitest.config.root;
  }

  onTestRunEnd(modules, unhandledErrors, reason) {
    const failed = unhandledErrors.map((error) => `outside any test: ${firstLine(error)}`);
    if (reason === "interrupted") failed.push("the run was interrupted");
    const files = modules.map((module) => [
      relative(this.folder, module.moduleId),
      results(module),
    ]);
    const report = { failed, files: Object.fromEntries(files) };

    const file = resolve(this.folder, reportFile);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(report));
  }
}

function results(module) {
  const failed = module.errors().map(firstLine);
  for (const suite of module.children.allSuites()) {
    failed.push(...suite.errors().map((error) => `${suite.fullName}: ${firstLine(error)}`));
  }
  const skipped = [];
  let passed = 0;
  for (const test of module.children.allTests()) {
    const { state, note } = test.result();
    if (state === "passed") passed += 1;
    else if (state === "skipped")
      skipped.push({ test: test.fullName, reason: note ?? reasonInTitle(test.fullName) });
    else failed.push(state === "pending" ? `${test.fullName}: did not run` : test.fullName);
  }
  return { passed, failed, skipped };
}

// A skipped `describe` can give its reason only in its title.
function reasonInTitle(title) {
  return /\(skipped: ([^)]+)\)/.exec(title)?.[1];
}

function firstLine(error) {
  return String(error.message).split("\n")[0];
}
