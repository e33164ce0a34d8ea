export { consolePage } from "./page.ts";
export type { ConsolePage, PageFile } from "./page.ts";
