export { serveHub } from "./served/serve-hub.ts";
export type { ServedHub, ServeOptions } from "./served/options.ts";
export { BUDGETS, SERVED_LIMITS } from "./served/budgets.ts";
export type { Budget, BudgetName, ServedLimits } from "./served/budgets.ts";
export { hubLogger, logTo } from "./served/log.ts";
export type { HubLogger, HubLoggerOptions } from "./served/log.ts";
