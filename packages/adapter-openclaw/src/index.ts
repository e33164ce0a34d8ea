export { openGateway } from "./gateway.ts";
export type { Gateway, GatewayEvent, GatewayOptions } from "./gateway.ts";
export { serveAgent } from "./serve.ts";
export type { ServeAgentOptions } from "./serve.ts";
