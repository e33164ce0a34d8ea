/// <reference types="node" />
import { dirname, relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import { faultOfEnvironment } from "./fault.ts";

/** Runs the tests beside the fault first: they notice most faults, and the first failure ends the run. */
export class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { file } = faultOfEnvironment();
    const own = file.replace(/\.ts$/, ".test.ts");
    const distanceOf = ({ moduleId }: TestSpecification): number =>
      moduleId === own ? 0 : relative(dirname(file), moduleId).split("/").length;
    return files.toSorted((a, b) => distanceOf(a) - distanceOf(b));
  }
}
