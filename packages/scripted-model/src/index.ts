export { startScriptedModel } from "./server.ts";
export type { ScriptedModel } from "./server.ts";
export type { ApiFailure, Malformed, ModelRequest, Reply, SaidCall, Script, Turn } from "./turn.ts";
