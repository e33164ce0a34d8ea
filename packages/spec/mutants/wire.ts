import type { Mutant } from "./mutant.ts";

export const WIRE: readonly Mutant[] = [
  {
    rule: "WB-18",
    file: "src/signing/jws.ts",
    find: `text === headerText(alg, kid)) return`,
    replace: `text.startsWith(headerText(alg, kid).slice(0, -1))) return`,
    why: "takes members behind those that there are",
  },
  {
    rule: "WB-18",
    file: "src/signing/jws.ts",
    find: `text === headerText(alg, kid)) return`,
    replace: `text.trim() === headerText(alg, kid)) return`,
    why: "takes white space around the header",
  },
  {
    rule: "WB-18",
    file: "src/signing/jws.ts",
    find: `  throw malformed(faultOfHeader(text));`,
    replace: `  const { alg, kid } = JSON.parse(text) as Header;
  if (KID.test(kid) && ALGORITHM_NAMES.includes(alg)) return { alg, kid };
  throw malformed(faultOfHeader(text));`,
    why: "reads the header as JSON, in any order and with any further members",
  },
  {
    rule: "WB-18",
    file: "src/signing/jws.ts",
    find: `  throw malformed(faultOfHeader(text));`,
    replace: `  throw untrusted(faultOfHeader(text));`,
    why: "answers another header with another status",
  },
  {
    rule: "WB-19",
    file: "src/limits.ts",
    find: `envelopeBytes: 1024 * 1024,`,
    replace: `envelopeBytes: 1024 * 1024 + 4,`,
    why: "takes a little more",
  },
  {
    rule: "WB-19",
    file: "src/limits.ts",
    find: `envelopeBytes: 1024 * 1024,`,
    replace: `envelopeBytes: 1024 * 1024 - 4,`,
    why: "takes a little less",
  },
  {
    rule: "WB-19",
    file: "src/signing/jws.ts",
    find: `if (length > envelopeBytes) throw tooLarge(length, envelopeBytes);`,
    replace: ``,
    why: "decodes an envelope of any size",
  },
  {
    rule: "WB-20",
    file: "src/signing/jws.ts",
    find: `if (!ALGORITHMS[alg].isValid(`,
    replace: `if (false && !ALGORITHMS[alg].isValid(`,
    why: "does not verify",
  },
  {
    rule: "WB-19",
    file: "src/signing/jws.ts",
    find: `const length = bytesOf(text, envelopeBytes);`,
    replace: `const { length } = text;`,
    why: "counts characters instead of bytes",
  },
  {
    rule: "WB-20",
    file: "src/signing/jws.ts",
    find: `if (fault !== undefined) throw malformed(`,
    replace: `if (fault !== undefined) throw untrusted(`,
    why: "answers a signature of another length like one that is wrong",
  },
  {
    rule: "WB-20",
    file: "src/signing/jws.ts",
    find: `length === SIGNATURE_BYTES`,
    replace: `length >= SIGNATURE_BYTES`,
    why: "takes a longer part to be a signature",
  },
  {
    rule: "WB-20",
    file: "src/signing/jws.ts",
    find: `if (key === undefined) throw untrusted(`,
    replace: `if (key === undefined) throw malformed(`,
    why: "answers an unknown key with another status",
  },
  {
    rule: "WB-21",
    file: "src/envelope/verify-envelope.ts",
    find: `  let signer: KeyRecord | undefined;`,
    replace: `  let signer: KeyRecord | undefined;
  parseEnvelope(atob(text.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")), limits);`,
    why: "parses before it has verified",
  },
  {
    rule: "WB-21",
    file: "src/envelope/verify-envelope.ts",
    find: `digest: verified.digest, text, kid`,
    replace: `digest: verified.digest, text: JSON.stringify(envelope), kid`,
    why: "keeps a new encoding instead of the text that was verified",
  },
  {
    rule: "WB-21",
    file: "src/signing/jws.ts",
    find: `return { alg, kid, payload, digest: digestFrom(leaf) };`,
    replace: `return { alg, kid, payload, digest: digestFrom(leafOf(kid, JSON.stringify(JSON.parse(payload)))) };`,
    why: "encodes an envelope anew for its digest",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch.ts",
    find: `if (index >= size) return`,
    replace: `if (index > size) return`,
    why: "takes an index that is the size",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch.ts",
    find: `  writeUint32(bytes, SIGNED_PREFIX.length, size);\n`,
    replace: ``,
    why: "does not sign the size",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch.ts",
    find: `utf8("waybill batch 1\\0")`,
    replace: `utf8("waybill batch 1")`,
    why: "leaves out the zero byte of the prefix",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch-tree.ts",
    find: "return sha256OfText(`\\0${kid}\\n${payload}`);",
    replace: "return sha256OfText(`${kid}\\n${payload}`);",
    why: "hashes leaves without the zero in front",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch-tree.ts",
    find: "return sha256OfText(`\\0${kid}\\n${payload}`);",
    replace: "return sha256OfText(`\\0${payload}`);",
    why: "hashes leaves without the kid",
  },
  {
    rule: "WB-103",
    file: "src/signing/verified-cache.ts",
    find: `known === undefined || known.text !== text`,
    replace: `known === undefined`,
    why: "takes a text as verified because its signature part was seen with another payload",
  },
  {
    rule: "WB-103",
    file: "src/signing/verified-cache.ts",
    find: `return keyOf(verified.kid)?.jwk.x === publicKey ? verified : undefined;`,
    replace: `return verified;`,
    why: "takes a text as verified that was verified under another key",
  },
  {
    rule: "WB-103",
    file: "src/signing/verified-cache.ts",
    find: `  const known = young.get(name) ?? old.get(name);
  if (known === undefined || known.text !== text) return undefined;`,
    replace: `  const isSame = (each: CachedEnvelope) => each.text.split(".")[1] === text.split(".")[1];
  const known = [name, ...young.values(), ...old.values()].find((each) => typeof each === "object" && isSame(each)) as CachedEnvelope | undefined;
  if (known === undefined) return undefined;`,
    why: "finds what was verified by its digest, whatever the signature is",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch-tree.ts",
    find: `pair[0] = 1;`,
    replace: `pair[0] = 0;`,
    why: "hashes nodes like leaves",
  },
  {
    rule: "WB-22",
    file: "src/signing/batch.ts",
    find: `  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;`,
    replace: `  bytes[at + 3] = value >>> 24;
  bytes[at + 2] = value >>> 16;
  bytes[at + 1] = value >>> 8;
  bytes[at] = value;`,
    why: "writes numbers with the lowest byte first",
  },
  {
    rule: "WB-23",
    file: "src/signing/batch.ts",
    find: `if (part.length === expected) return undefined;`,
    replace: `if (part.length >= expected) return undefined;`,
    why: "takes a path that goes on behind the root",
  },
  {
    rule: "WB-23",
    file: "src/signing/batch.ts",
    find: `if (part.length === expected) return undefined;`,
    replace: `if (part.length <= expected) return undefined;`,
    why: "takes a path that ends before the root",
  },
  {
    rule: "WB-24",
    file: "src/signing/jws.ts",
    find: `isValid: ({ signature }, leaf, key, roots) => roots.hasLeaf(leaf, signature, key),`,
    replace: `isValid: () => false,`,
    why: "takes no batches",
  },
  {
    rule: "WB-24",
    file: "src/signing/jws.ts",
    find: `if (first === undefined || payloads.length > 1) return`,
    replace: `if (first === undefined || payloads.length > 0) return`,
    why: "makes a batch of a lone envelope",
  },
  {
    rule: "WB-25",
    file: "src/signing/batch.ts",
    find: "`${key.kid}.${toBase64url(head)}.${toBase64url(signature)}`",
    replace: "`${key.kid}.${toBase64url(head)}`",
    why: "takes a remembered root with any signature",
  },
  {
    rule: "WB-25",
    file: "src/signing/batch.ts",
    find: "`${key.kid}.${toBase64url(head)}.${toBase64url(signature)}`",
    replace: "`${toBase64url(head)}.${toBase64url(signature)}`",
    why: "takes a remembered root as signed by every key",
  },
  {
    rule: "WB-25",
    file: "src/signing/batch.ts",
    find: "`${key.kid}.${toBase64url(head)}.${toBase64url(signature)}`",
    replace: "`${key.kid}.${toBase64url(root)}.${toBase64url(signature)}`",
    why: "takes a remembered root with any size",
  },
  {
    rule: "WB-25",
    file: "src/signing/batch.ts",
    find: `    if (!key.verify(head, signature)) return false;
    if (capacity > 0) {
      if (known.size >= capacity) known.delete(known.values().next().value as string);
      known.add(name);
    }
    return true;`,
    replace: `    known.add(name);
    return key.verify(head, signature);`,
    why: "remembers roots whose signature was bad",
  },
  {
    rule: "WB-25",
    file: "src/signing/batch.ts",
    find: "`${key.kid}.${toBase64url(part.subarray(4, HEAD_BYTES))}`",
    replace: "`${toBase64url(part.subarray(4, HEAD_BYTES))}`",
    why: "takes a remembered tree as signed by every key",
  },
  {
    rule: "WB-25",
    file: "src/signing/batch.ts",
    find: "`${key.kid}.${toBase64url(part.subarray(4, HEAD_BYTES))}`",
    replace: "`${key.kid}.${toBase64url(part.subarray(4, 8))}`",
    why: "takes a remembered tree with any signature",
  },
  {
    rule: "WB-25",
    file: "src/signing/known-tree.ts",
    find: "if (!this.#isAt(level + position, scratch, end)) return false;",
    replace: "",
    why: "takes what stands at the place of a known node for it",
  },
  {
    rule: "WB-25",
    file: "src/signing/known-tree.ts",
    find: "else if (!this.#isAt(level + (position ^ 1), part, sibling)) return false;",
    replace: "",
    why: "does not look at the rest of a path that has met a known node",
  },
];
