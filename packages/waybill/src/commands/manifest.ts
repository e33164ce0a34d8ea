import { loadKey } from "@waybill/agent";
import {
  digestOfJws,
  parseJson,
  parseManifest,
  signManifest,
  verifyManifest,
  WaybillError,
} from "@waybill/protocol";
import type { Manifest, ManifestInput, VerifiedManifest } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { textOf } from "../command-line/given.ts";
import { readText } from "../files/read-text.ts";
import { manifestText } from "../terminal/manifest.ts";

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export const runCheck: Run = async ({ given, terminal }) => {
  const text = (await readText(given.arguments["file"]!)).trim();
  const previousFile = textOf(given, "previous");
  const previous = previousFile === undefined ? undefined : await verifiedIn(previousFile);
  const at = Date.now();
  const signed = COMPACT.test(text) ? verifyManifest(text, { previous, at }) : undefined;
  const manifest = signed?.manifest ?? parseManifest(parsed(text));
  const signature = signed === undefined ? undefined : { kid: signed.kid, digest: signed.digest };
  await terminal.answer({ holds: true, signature, manifest }, (style) => {
    const how =
      signed === undefined
        ? `${style.good("✔")} The manifest is valid, and not signed yet.`
        : `${style.good("✔")} The manifest is valid, and signed by ${style.name(signed.kid)}.`;
    return `${how}\n\n${manifestText(manifest, style)}`;
  });
};

export const runSign: Run = async ({ given, terminal }) => {
  const keyFile = textOf(given, "with");
  if (keyFile === undefined) {
    throw new WaybillError(
      400,
      "Name the key to sign with: --with <key file>. To create one: waybill keys new <file>",
    );
  }
  const input = parsed(await readText(given.arguments["file"]!)) as unknown as ManifestInput;
  const previousFile = textOf(given, "previous");
  const previous = previousFile === undefined ? undefined : await verifiedIn(previousFile);
  const key = await loadKey(keyFile);
  const text = signManifest(previous === undefined ? input : following(previous, input), key);
  const { manifest, digest } = verifyManifest(text, { previous, at: Date.now() });
  await terminal.answer(
    { manifest: text, digest, kid: key.kid, sequence: manifest.sequence },
    () => text,
  );
};

function following(
  { manifest, digest, text }: VerifiedManifest,
  input: ManifestInput,
): ManifestInput {
  const keys = input.keys ?? manifest.keys;
  return { ...input, keys, sequence: manifest.sequence + 1, previous: digest ?? digestOfJws(text) };
}

/** A signed manifest that is trusted as the previous one, on the caller's word. */
async function verifiedIn(path: string): Promise<VerifiedManifest> {
  const text = (await readText(path)).trim();
  const at = Date.now();
  try {
    return verifyManifest(text, { at });
  } catch (cause) {
    throw new WaybillError(
      400,
      `${path} is not a complete signed manifest: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function parsed(text: string): Manifest {
  try {
    return parseJson(text) as unknown as Manifest;
  } catch (cause) {
    throw new WaybillError(400, `The manifest is not JSON: ${(cause as Error).message}`, { cause });
  }
}
