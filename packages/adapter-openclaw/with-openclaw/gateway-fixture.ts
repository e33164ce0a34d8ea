/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const GUARD = fileURLToPath(new URL("guard.mjs", import.meta.url));
export const OPENCLAW: string = fileURLToPath(
  new URL("node_modules/openclaw/openclaw.mjs", import.meta.url),
);

export const TOKEN = "token-of-these-tests";

/** What these tests change in the gateway's configuration. */
interface EditedConfig {
  readonly gateway: { trustedProxies?: readonly string[] };
  tools?: { exec?: object };
  plugins?: {
    readonly load?: { readonly paths: readonly string[] };
    readonly entries: Record<string, { enabled?: boolean; config?: object }>;
  };
}

/** A gateway with a home of its own, which survives the gateway's processes. */
export class GatewayProcess {
  readonly folder: string;
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  /** A gateway whose agents use the model behind this address, before it is started. */
  static async prepare(
    modelUrl: string,
    agents: readonly string[] = ["main"],
  ): Promise<GatewayProcess> {
    const folder = await mkdtemp(join(tmpdir(), "waybill-openclaw-"));
    const port = await freePort();
    const made = new GatewayProcess(folder, port);
    await mkdir(made.workspace);
    const config = configOf(folder, port, modelUrl, agents);
    await writeFile(join(folder, "openclaw.json"), JSON.stringify(config));
    // A gateway repeats a failed request to a model for a minute. These tests have no time for that.
    const settings = { retry: { enabled: false, provider: { maxRetries: 0 } } };
    for (const agent of agents) {
      const place = join(folder, "state/agents", agent, "agent");
      await mkdir(place, { recursive: true });
      await writeFile(join(place, "settings.json"), JSON.stringify(settings));
    }
    return made;
  }

  static async start(modelUrl: string): Promise<GatewayProcess> {
    const made = await GatewayProcess.prepare(modelUrl);
    await made.start();
    return made;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  get workspace(): string {
    return join(this.folder, "workspace");
  }

  get env(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return {
      PATH,
      HOME: this.folder,
      OPENCLAW_STATE_DIR: join(this.folder, "state"),
      OPENCLAW_CONFIG_PATH: join(this.folder, "openclaw.json"),
      OPENCLAW_SKIP_CHANNELS: "1",
      OPENCLAW_SKIP_CRON: "1",
      OPENCLAW_NO_RESPAWN: "1",
      NO_COLOR: "1",
    };
  }

  /** Changes its configuration, as somebody does who edits the file. */
  async configure(change: (config: EditedConfig) => void): Promise<void> {
    const path = join(this.folder, "openclaw.json");
    const config = JSON.parse(await readFile(path, "utf8")) as EditedConfig;
    change(config);
    await writeFile(path, JSON.stringify(config));
  }

  /**
   * Starts it, also after it was killed. Settles when it takes connections. On a busy machine the
   * gateway ends if its own state is not ready within five seconds, so it gets a second chance.
   */
  async start(): Promise<void> {
    await this.#launch().catch(() => this.#launch());
  }

  async #launch(): Promise<void> {
    const child = spawn(
      process.execPath,
      [GUARD, OPENCLAW, "gateway", "run", "--port", `${this.port}`, "--bind", "loopback"],
      { cwd: this.folder, env: this.env, stdio: "pipe" },
    );
    this.#child = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        said += String(chunk);
        if (/\[gateway\]\s+ready/.test(said)) resolve();
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("exit", () => reject(new Error(`The gateway ended at its start:\n${said}`)));
    });
  }

  /** Kills it with SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child!;
    if (child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.stdin!.end();
    await gone;
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function configOf(
  folder: string,
  port: number,
  baseUrl: string,
  agents: readonly string[],
): object {
  const model = {
    id: "scripted",
    name: "Scripted",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 8192,
  };
  const provider = { baseUrl, apiKey: "none", api: "openai-completions", models: [model] };
  return {
    gateway: {
      mode: "local",
      port,
      bind: "loopback",
      auth: { mode: "token", token: TOKEN },
      controlUi: { enabled: false },
    },
    agents: {
      defaults: {
        model: { primary: "local/scripted" },
        workspace: join(folder, "workspace"),
        skipBootstrap: true,
        maxConcurrent: 16,
      },
      entries: Object.fromEntries(agents.map((agent) => [agent, {}])),
    },
    models: { mode: "replace", providers: { local: provider } },
    // Its models get the tools themselves instead of a search for tools.
    tools: { toolSearch: false },
    discovery: { mdns: { mode: "off" } },
  };
}
