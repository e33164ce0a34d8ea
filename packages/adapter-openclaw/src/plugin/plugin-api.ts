/** What OpenClaw gives a plugin, as far as this one uses it. */
export interface PluginApi {
  readonly pluginConfig?: PluginConfig | undefined;
  readonly config: HostConfig;
  readonly logger: { info(text: string): void; warn(text: string): void };
  readonly runtime: { readonly state: { resolveStateDir(): string } };
  registerTool(create: (context: ToolContext) => PluginTool, options: { name: string }): void;
  registerService(service: { id: string; start(): void; stop(): Promise<void> }): void;
}

/** `plugins.entries.waybill.config` of OpenClaw's configuration. */
export interface PluginConfig {
  /** The address of the hub. */
  readonly hub?: string | undefined;
  /** Under which name the gateway's agents hand off, by default `openclaw`. */
  readonly agent?: string | undefined;
  /** How long a tool waits for a result before it is announced instead, by default 20 seconds. */
  readonly waitSeconds?: number | undefined;
}

/** OpenClaw's own configuration. */
export interface HostConfig {
  readonly gateway?:
    | {
        readonly port?: number | undefined;
        readonly auth?: { readonly token?: unknown } | undefined;
      }
    | undefined;
}

/** Where a tool is used. */
export interface ToolContext {
  readonly sessionKey?: string | undefined;
}

/** A tool as an agent of OpenClaw has it. */
export interface PluginTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(
    toolCallId: string,
    given: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: ToolResult) => void,
  ): Promise<ToolResult>;
}

/** What a tool tells the model. */
export interface ToolResult {
  readonly content: readonly ToolContent[];
  readonly details: object;
}

/** A part of what a tool tells the model. */
export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };
