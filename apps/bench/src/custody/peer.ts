/// <reference types="node" />
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AGENT_CARD_PATH, Role, TaskState } from "@a2a-js/sdk";
import type { AgentCard, Part } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { checkOutput, inputOf, outputOf } from "./job.ts";
import type { Lane } from "./lane.ts";

/** A2A's own client and server over HTTP on loopback, with its tasks in memory. */
export async function openPeer(): Promise<Lane> {
  const app = express();
  const server = createServer(app);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requestHandler = new DefaultRequestHandler(cardOf(url), new InMemoryTaskStore(), executor);
  const userBuilder = UserBuilder.noAuthentication;
  const agentCardProvider = requestHandler;
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider }));
  app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder }));
  const client = await new ClientFactory().createFromUrl(url);
  return {
    async doOne(index) {
      const answer = await client.sendMessage({
        tenant: "",
        message: {
          messageId: randomUUID(),
          contextId: "",
          taskId: "",
          role: Role.ROLE_USER,
          parts: [dataPart(inputOf(index))],
          metadata: undefined,
          extensions: [],
          referenceTaskIds: [],
        },
        configuration: undefined,
        metadata: undefined,
      });
      if (!("status" in answer) || answer.status?.state !== TaskState.TASK_STATE_COMPLETED) {
        throw new Error("the task did not end as completed");
      }
      const content = answer.status.message?.parts[0]?.content;
      checkOutput(index, content?.$case === "data" ? content.value : undefined);
    },
    settle: () => Promise.resolve(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const executor: AgentExecutor = {
  execute({ taskId, contextId, userMessage }, bus) {
    const status = (state: TaskState, parts?: Part[]) => ({
      state,
      message: parts && {
        messageId: randomUUID(),
        contextId,
        taskId,
        role: Role.ROLE_AGENT,
        parts,
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
      timestamp: new Date().toISOString(),
    });
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    const content = userMessage.parts[0]?.content;
    const output = outputOf(content?.$case === "data" ? content.value : { text: "" });
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: status(TaskState.TASK_STATE_COMPLETED, [dataPart(output)]),
        metadata: undefined,
      }),
    );
    bus.finished();
    return Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
};

function dataPart(value: unknown): Part {
  return { content: { $case: "data", value }, metadata: undefined, filename: "", mediaType: "" };
}

function cardOf(url: string): AgentCard {
  return {
    name: "bench",
    description: "Gives back what it is given.",
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" },
    ],
    provider: undefined,
    version: "1.0.0",
    capabilities: { streaming: false, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["application/json"],
    skills: [],
    signatures: [],
  };
}
