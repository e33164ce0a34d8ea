import { createRequire } from "node:module";
import { assertMessage, assertPrivateKey, verification } from "./edwards.ts";
import type { Signer } from "./edwards.ts";
import { nodeCrypto } from "./crypto.node.ts";
import * as node from "./platform.node.ts";
import { preferSodium } from "./sodium.node.ts";
import type { Sodium } from "./sodium.node.ts";

const require = createRequire(import.meta.url);

/** The package itself. It is installed under another name, so that all other tests run without it. */
export function loadSodium(): Sodium {
  return require("sodium-native-tested") as Sodium;
}

const chosen = preferSodium(nodeCrypto, loadSodium);
/** Whether it is there, and has given every known answer. */
export const isSodium: boolean = chosen !== nodeCrypto;

function signer(privateKey: Uint8Array): Signer {
  assertPrivateKey(privateKey);
  const signs = chosen.signer(privateKey);
  return (message) => {
    assertMessage(message);
    return signs(message);
  };
}

/** The platform of Node, as it is where the application has installed `sodium-native`. */
export const sodiumPlatform: typeof node = {
  ...node,
  signer,
  sign: (message, privateKey) => signer(privateKey)(message),
  ...verification((publicKey) => chosen.equation(publicKey)),
};
