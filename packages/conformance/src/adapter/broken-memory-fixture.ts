import type { AdapterFixture } from "./fixture.ts";
import { plainFixture } from "./plain-fixture.ts";

const sessions = new Set<string>();

/** Resumes only what this process has begun. */
export const fixture: AdapterFixture = plainFixture({
  run(run, next) {
    if (run.resume !== undefined && !sessions.has(run.handoffId)) {
      throw new Error("There is no such session.");
    }
    sessions.add(run.handoffId);
    return next(run);
  },
});
