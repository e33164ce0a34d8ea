export { serveHub } from "./served/serve-hub.ts";
export type { ServedHub, ServeOptions } from "./served/options.ts";
export { SERVED_LIMITS } from "./served/limits.ts";
export type { ServedLimits } from "./served/limits.ts";
export { hubLogger, logTo } from "./served/log.ts";
export type { HubLogger, HubLoggerOptions } from "./served/log.ts";
