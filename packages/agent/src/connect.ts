export { connect } from "./connect/connect.ts";
export type { ConnectedHub, ConnectOptions } from "./connect/connect.ts";
export type { ConnectionLog, ConnectionLogEvent } from "./connect/connection-log.ts";
export { readOwn, isForeign } from "./connect/own-file.ts";
export type { OwnFile } from "./connect/own-file.ts";
export { unreachable } from "./connect/unreachable.ts";
