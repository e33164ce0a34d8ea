import type { Mutant } from "./mutant.ts";

export const STORE_SQLITE: readonly Mutant[] = [];
