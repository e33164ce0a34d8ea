export { SqliteSaver } from "./sqlite-saver.ts";
