import type { Mutant } from "./mutant.ts";

export const KEYS: readonly Mutant[] = [
  {
    rule: "WB-12",
    file: "src/platform/platform.ts",
    find: `return expected.every((byte, i) => byte === r[i]);`,
    replace: `return Point.fromBytes(expected).subtract(Point.fromBytes(r, true)).clearCofactor().is0();`,
    why: "multiplies by the cofactor on the portable path",
  },
  {
    rule: "WB-12",
    file: "src/platform/crypto.node.ts",
    find: `return (message, signature) => crypto.verify(null, message, key, signature);`,
    replace: `return (message, signature) =>
      loosely(signature, message, publicKey) && key.type === "public";
  },
};
import { hashes, verify as loosely } from "@noble/ed25519";
hashes.sha512 = (message) => new Uint8Array(crypto.createHash("sha512").update(message).digest());
void {
  nothing(): void {`,
    why: "multiplies by the cofactor on the path of node:crypto",
  },
  {
    rule: "WB-12",
    file: "src/platform/platform.ts",
    find: `return expected.every((byte, i) => byte === r[i]);`,
    replace: `return expected.every((byte, i) => byte === r[i] || i === 31);`,
    why: "does not compare all of R",
  },
  {
    rule: "WB-13",
    file: "src/platform/edwards.ts",
    find: `    isBelowOrder(value) &&\n`,
    replace: ``,
    why: "takes S of any size",
  },
  {
    rule: "WB-14",
    file: "src/platform/edwards.ts",
    find: ` &&
    !hasSmallOrderR(value)`,
    replace: ``,
    why: "takes an R of small order",
  },
  {
    rule: "WB-15",
    file: "src/platform/edwards.ts",
    find: `return !point.isSmallOrder() && point.isTorsionFree() ? point : undefined;`,
    replace: `return point.isTorsionFree() ? point : undefined;`,
    why: "enrols the identity, under which anybody can sign",
  },
  {
    rule: "WB-15",
    file: "src/platform/edwards.ts",
    find: `return !point.isSmallOrder() && point.isTorsionFree() ? point : undefined;`,
    replace: `return !point.isSmallOrder() ? point : undefined;`,
    why: "enrols a key with a torsion component",
  },
  {
    rule: "WB-15",
    file: "src/platform/edwards.ts",
    find: `  } catch {
    return undefined;
  }`,
    replace: `  } catch {
    return Point.BASE;
  }`,
    why: "enrols what is no point on the curve",
  },
  {
    rule: "WB-15",
    file: "src/platform/edwards.ts",
    find: `if (point === undefined) return undefined;
    const holds = equationFor(publicKey, point);`,
    replace: `const holds = equationFor(publicKey, point ?? Point.fromBytes(publicKey, true));`,
    why: "verifies with a key that may not be enrolled",
  },
  {
    rule: "WB-15",
    file: "src/signing/key.ts",
    find: `return new WaybillError(401, \`The public key is refused: `,
    replace: `return new WaybillError(400, \`The public key is refused: `,
    why: "answers a weak key with another status",
  },
  {
    rule: "WB-16",
    file: "src/signing/key.ts",
    find: `utf8(\`{"crv":"Ed25519","kty":"OKP","x":"`,
    replace: `utf8(\`{"kty":"OKP","crv":"Ed25519","x":"`,
    why: "does not sort the members of a thumbprint",
  },
  {
    rule: "WB-17",
    file: "src/signing/key.ts",
    find: `if ("d" in source) {`,
    replace: `if ("d" in source && false) {`,
    why: "enrols a private key that was sent by mistake",
  },
  {
    rule: "WB-17",
    file: "src/signing/key.ts",
    find: `if (kty !== "OKP") throw`,
    replace: `if (false) throw`,
    why: "takes a key of another type",
  },
  {
    rule: "WB-17",
    file: "src/signing/key.ts",
    find: `if (crv !== "Ed25519") throw`,
    replace: `if (false) throw`,
    why: "takes a key of another curve",
  },
];
