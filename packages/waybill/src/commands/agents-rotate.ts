/// <reference types="node" />
import { loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";
import {
  parseJson,
  readCompact,
  signManifest,
  signRecovery,
  verifyManifest,
  WaybillError,
} from "@waybill/protocol";
import type { ManifestInput, PrivateKey, VerifiedManifest } from "@waybill/protocol";
import { manifestPages } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { commandLine, textOf } from "../command-line/given.ts";
import { checkFile } from "../files/read-text.ts";
import { announcedHub } from "../hub/client.ts";
import { domainOfFolder } from "../hub/which-hub.ts";
import { printable } from "../terminal/text.ts";

const CONNECT_MS = 10_000;

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { agent = "" } = given.arguments;
  const recoveryFile = textOf(given, "from-recovery");
  if (recoveryFile === undefined) {
    throw new WaybillError(
      400,
      `Name the file with the recovery key of ${agent}: --from-recovery <file>. Without one, an operator of the hub can pin a new key: waybill agents pin ${agent} <thumbprint>`,
    );
  }
  // Otherwise a missing one would be created.
  checkFile(recoveryFile);
  const recoveryKey = await loadKey(recoveryFile);
  const keyFile = textOf(given, "new-key") ?? `${agent}.key`;
  const { url } = announcedHub(settings, terminal);
  const hub = await connect(url, {
    signal,
    timeoutMs: CONNECT_MS,
    hubKey: domainOfFolder(settings),
  });
  try {
    const newest = await newestOf(hub, agent);
    checkRecoveryKey(newest, recoveryKey, recoveryFile);
    const key = await loadKey(keyFile);
    checkNew(newest, key, keyFile);
    const signed = recovered(newest, key, recoveryKey);
    await hub.publish(signed);
    const { kid } = key;
    await terminal.answer({ rotated: agent, kid, file: keyFile }, (style) =>
      [
        `${style.good("✔")} ${printable(agent)} now uses the key ${style.name(kid)}, in ${style.strong(keyFile)}. Its old keys are refused from now on.`,
        style.faint(
          `Start the agent with this key: pass it as key, or copy it to .waybill/keys/${hub.domain}/${agent}.key beside the application. Then take the recovery key off this machine again.`,
        ),
      ].join("\n"),
    );
  } finally {
    await hub.close();
  }
};

/** The newest manifest of an agent, after verifying the chain that leads to it. */
async function newestOf(hub: ConnectedHub, agent: string): Promise<VerifiedManifest> {
  let newest: VerifiedManifest | undefined;
  const pages = manifestPages((query) => hub.manifests(query), agent);
  for await (const { text, at } of pages) {
    // A pin may have changed its key before. Here the agent's owner asks, who knows the recovery key.
    newest = verifyManifest(text, { previous: newest, at, vouched: () => true });
  }
  if (newest !== undefined) return newest;
  throw new WaybillError(
    404,
    `The hub does not know the agent ${agent}, so there is nothing to recover. To list the agents: waybill agents`,
  );
}

function checkRecoveryKey(
  { manifest: { agent_id: agent }, recovery }: VerifiedManifest,
  { kid }: PrivateKey,
  file: string,
): void {
  if (recovery?.kid === kid) return;
  const pin = `an operator of the hub can pin a new key: ${commandLine(["waybill", "agents", "pin", agent])} <thumbprint>`;
  const message =
    recovery === undefined
      ? `${agent} lists no recovery key, so none can give it a new key. But ${pin}`
      : `The key in ${file} is ${kid}, and the recovery key of ${agent} is ${recovery.kid}. Name the file with that one. If it is lost, ${pin}`;
  throw new WaybillError(401, message);
}

function checkNew({ manifest, keys }: VerifiedManifest, { kid }: PrivateKey, file: string): void {
  if (!keys.has(kid)) return;
  throw new WaybillError(
    409,
    `The key in ${file} is the current key of ${manifest.agent_id}, and a recovery ends it. Name a new file for the next key: --new-key <file>`,
  );
}

/** The same manifest as before, with one new key in place of all signing keys. */
function recovered(
  { text, manifest, digest }: VerifiedManifest,
  key: PrivateKey,
  recoveryKey: PrivateKey,
): string {
  const before = parseJson(readCompact(text).payload) as unknown as ManifestInput;
  const kept = manifest.keys.find(({ use }) => use === "recovery")!;
  const update = {
    ...before,
    keys: [key.jwk, kept],
    sequence: manifest.sequence + 1,
    previous: digest,
  };
  return signManifest(signRecovery(update, recoveryKey), key);
}
