import { sharedPlace } from "./stage.ts";

/** One gateway for all test files of a run. */
export async function setup(): Promise<() => Promise<void>> {
  const { close } = await sharedPlace();
  return close;
}
