/// <reference types="node" />
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
} from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { WaybillError } from "@waybill/protocol";

/** The identity under which a gateway knows this client: a key, and the token that the gateway issued. */
export interface Device {
  readonly privateKey: string;
  readonly token?: string | undefined;
}

/** What the gateway's challenge asks a device to sign. */
export interface Challenge {
  readonly nonce: string;
  readonly ts: number;
}

/** Who signs: the values of the `connect` request that the signature covers. */
export interface SignedClient {
  readonly id: string;
  readonly mode: string;
  readonly platform: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly token: string | undefined;
}

/** The device in a file, which is created with a new key if there is none. */
export async function loadDevice(path: string): Promise<Device> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const { privateKey } = generateKeyPairSync("ed25519");
    const device = { privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    await saveDevice(path, device);
    return device;
  }
  try {
    const device = JSON.parse(text) as Device;
    createPrivateKey(device.privateKey);
    return device;
  } catch (cause) {
    throw new WaybillError(400, `${path} is not a device of an OpenClaw gateway.`, { cause });
  }
}

/** Writes the device for its owner only, and never half. */
export async function saveDevice(path: string, device: Device): Promise<void> {
  const draft = `${path}.new`;
  await writeFile(draft, `${JSON.stringify(device, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

/** The `device` member of a `connect` request. */
export function signedDevice(
  { privateKey }: Device,
  { id, mode, platform, role, scopes, token = "" }: SignedClient,
  { nonce, ts }: Challenge,
): Readonly<Record<string, string | number>> {
  const key = createPrivateKey(privateKey);
  const raw = createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-32);
  const deviceId = createHash("sha256").update(raw).digest("hex");
  const signed = [
    "v3",
    deviceId,
    id,
    mode,
    role,
    scopes.join(","),
    `${ts}`,
    token,
    nonce,
    platform,
    "",
  ];
  const signature = sign(undefined, Buffer.from(signed.join("|")), key).toString("base64url");
  return { id: deviceId, publicKey: raw.toString("base64url"), signature, signedAt: ts, nonce };
}
