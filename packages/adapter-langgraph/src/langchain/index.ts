export { handoffsLast } from "./handoffs-last.ts";
export type { HandoffsLastOptions } from "./handoffs-last.ts";
