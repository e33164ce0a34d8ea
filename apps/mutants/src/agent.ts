import type { Mutant } from "./mutant.ts";

export const AGENT: readonly Mutant[] = [];
