export { connect } from "./connect/connect.ts";
export type { ConnectedHub, ConnectOptions } from "./connect/connect.ts";
export type { ConnectionLog, ConnectionLogEvent } from "./connect/connection-log.ts";
export { unreachable } from "./connect/unreachable.ts";
