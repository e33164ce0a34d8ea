export { serveHub } from "./serve-hub.ts";
export type { ServedHub, ServeOptions } from "./options.ts";
export { checkSocketPath, removeStaleSocket } from "./http/unix-socket.ts";
export { BUDGETS, SERVED_LIMITS } from "./budgets.ts";
export type { Budget, BudgetName, ServedLimits } from "./budgets.ts";
export { hubLogger, logTo } from "./log.ts";
export type { HubLogger, HubLoggerOptions } from "./log.ts";
