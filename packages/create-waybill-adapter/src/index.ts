export { createAdapter } from "./create.ts";
export type { Created, CreateOptions } from "./create.ts";
