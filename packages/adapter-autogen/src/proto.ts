/// <reference types="node" />
import { fileURLToPath } from "node:url";
import { loadPackageDefinition } from "@grpc/grpc-js";
import type { ServiceClientConstructor, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const PROTO = fileURLToPath(new URL("../proto/worker.proto", import.meta.url));

interface Package {
  readonly agents: { readonly AgentRpc: ServiceClientConstructor };
}

export function loadService(): ServiceDefinition {
  const definition = loadSync(PROTO, { keepCase: true, defaults: true, oneofs: true });
  return (loadPackageDefinition(definition) as unknown as Package).agents.AgentRpc.service;
}
