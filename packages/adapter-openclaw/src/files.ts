/// <reference types="node" />
import { Buffer } from "node:buffer";
import { artifactOf } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { GatewayRefusal } from "./gateway.ts";
import type { Gateway } from "./gateway.ts";

/** A reply, and the files that the agent has attached to it. */
export interface Reply {
  readonly text: string;
  readonly paths: readonly string[];
}

/** An agent attaches a file with a line of its own that names the path. */
export function replyIn(text: string): Reply {
  const lines = text.split("\n");
  const paths = lines.flatMap((line) => ATTACHED.exec(line)?.[1]?.trim() ?? []);
  const words = lines.filter((line) => !ATTACHED.test(line)).join("\n");
  return { text: paths.length === 0 ? text : words.trim(), paths };
}

const ATTACHED = /^MEDIA:\s*`?([^`]+?)`?\s*$/;

/**
 * The files that a reply names. The gateway gives its clients those of the agent's workspace, if they are
 * text or images.
 */
export async function filesOf(
  gateway: Gateway,
  agentId: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Artifact[]> {
  if (paths.length === 0) return [];
  const { agents } = await gateway.request<AgentList>("agents.list", {}, signal);
  const workspace = agents.find(({ id }) => id === agentId)?.workspace;
  return Promise.all(
    paths.map((path) => fileAt(gateway, agentId, relativeTo(workspace, path), signal)),
  );
}

interface AgentList {
  readonly agents: readonly { readonly id: string; readonly workspace?: string | undefined }[];
}

interface WorkspaceFile {
  readonly file: {
    readonly name: string;
    readonly mimeType?: string | undefined;
    readonly encoding: string;
    readonly content: string;
  };
}

async function fileAt(
  gateway: Gateway,
  agentId: string,
  path: string,
  signal: AbortSignal,
): Promise<Artifact> {
  try {
    const asked = { agentId, path };
    const { file } = await gateway.request<WorkspaceFile>("agents.workspace.get", asked, signal);
    const bytes = Buffer.from(file.content, file.encoding === "base64" ? "base64" : "utf8");
    return artifactOf(file.name, file.mimeType ?? "application/octet-stream", bytes);
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) throw error;
    throw new WaybillError(
      500,
      `The agent has attached ${path}, and the gateway does not hand it out.`,
      {
        cause: error,
      },
    );
  }
}

function relativeTo(workspace: string | undefined, path: string): string {
  const isInside = workspace !== undefined && path.startsWith(`${workspace}/`);
  return isInside ? path.slice(workspace.length + 1) : path.replace(/^\.\//, "");
}
