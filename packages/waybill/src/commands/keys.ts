/// <reference types="node" />
import { existsSync } from "node:fs";
import { loadKey } from "@waybill/agent";
import {
  isAgentId,
  parseJson,
  provenKey,
  provenRecoveryKey,
  publicKeyFrom,
  WaybillError,
} from "@waybill/protocol";
import type { PublicJwk } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { commandLine, textOf } from "../command-line/given.ts";
import { readText } from "../files/read-text.ts";
import { pairs } from "../terminal/columns.ts";
import type { Style } from "../terminal/style.ts";

export const runNew: Run = async ({ given, terminal }) => {
  const path = given.arguments["file"]!;
  if (existsSync(path)) {
    throw new WaybillError(
      409,
      `${path} already exists, and a key file is never overwritten, because an agent without its key can't prove who it is. Choose another file.`,
    );
  }
  const { kid, jwk } = await loadKey(path);
  await terminal.answer({ file: path, kid, jwk }, (style) => {
    const made = `${style.good("✔")} Created the key ${style.strong(path)}, readable only by its owner`;
    return `${made}\n\n${described(kid, jwk, style)}\n\n${style.faint("Anyone who has this file can sign as the agent. Keep a copy where only you can read it.")}`;
  });
};

export const runRecovery: Run = async ({ given, terminal }) => {
  const path = given.arguments["file"]!;
  const agent = textOf(given, "for");
  if (agent === undefined) {
    throw new WaybillError(
      400,
      "Name the agent that the recovery key is for: --for <agent>. The key proves that this agent holds it.",
    );
  }
  checkAgentId(agent);
  const isNew = !existsSync(path);
  const key = provenRecoveryKey(agent, await loadKey(path));
  await terminal.answer({ file: path, ...key }, (style) => {
    const made = isNew ? "A recovery key" : "The recovery key";
    return [
      `${style.good("✔")} ${made} of ${style.strong(agent)}, readable only by its owner, in ${style.strong(path)}`,
      pairs([["thumbprint", style.name(key.kid)]], style.faint),
      `List it in the manifest, as recoveryKey of createAgent or recovery_key of Agent:\n${JSON.stringify(key)}`,
      style.faint(
        `Then move the file off this machine: to a password manager, or to a medium in a safe. It only signs recoveries, but whoever has it can take over the agent's name. When the agent's key is lost or stolen: ${commandLine(["waybill", "agents", "rotate", agent, "--from-recovery", path])}`,
      ),
    ].join("\n\n");
  });
};

export const runShow: Run = async ({ given, terminal }) => {
  const agent = textOf(given, "for");
  if (agent !== undefined) {
    checkAgentId(agent);
    const path = given.arguments["file"]!;
    // Otherwise a missing one would be created.
    await readText(path);
    const key = provenKey(agent, await loadKey(path));
    return terminal.answer(key, () => JSON.stringify(key));
  }
  const { kid, jwk } = await publicKeyIn(given.arguments["file"]!);
  await terminal.answer({ kid, jwk }, (style) => described(kid, jwk, style));
};

export const runThumbprint: Run = async ({ given, terminal }) => {
  const { kid } = await publicKeyIn(given.arguments["file"]!);
  await terminal.answer({ kid }, () => kid);
};

function checkAgentId(agent: string): void {
  if (isAgentId(agent)) return;
  const message = "--for must be an agent id: up to 128 of a-z, 0-9, '.', '_' and '-'.";
  throw new WaybillError(400, message);
}

function described(kid: string, jwk: PublicJwk, style: Style): string {
  const rows = [
    ["thumbprint", style.name(kid)],
    ["public key", JSON.stringify(jwk)],
  ] as const;
  return pairs(rows, style.faint);
}

/** Reads a private key file, which only its owner may read, or a public JWK. */
async function publicKeyIn(path: string): Promise<{ kid: string; jwk: PublicJwk }> {
  const text = await readText(path);
  if (isPrivate(text) && path !== "-") return loadKey(path);
  let jwk: unknown;
  try {
    jwk = parseJson(text);
  } catch {
    // The message omits the content, which may be a secret.
    throw new WaybillError(400, `${nameOf(path)} is neither a key file nor a public JWK.`);
  }
  return publicKeyFrom(jwk);
}

function isPrivate(text: string): boolean {
  return /"d"\s*:/.test(text);
}

function nameOf(path: string): string {
  return path === "-" ? "The text on stdin" : `The file ${path}`;
}
