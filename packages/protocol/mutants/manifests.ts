import type { Mutant } from "./mutant.ts";

const MANIFEST = "src/manifest/manifest.ts";
const POSSESSION = "src/manifest/possession.ts";
const RESERVED = "src/manifest/reserved-id.ts";
const TRUST = "src/manifest/trust.ts";
const PATTERN_SYNTAX = "src/schema/pattern-syntax.ts";

export const MANIFESTS: readonly Mutant[] = [
  {
    rule: "WB-60",
    file: MANIFEST,
    find: `if (waybill !== 1 || kind !== "manifest") {`,
    replace: `if (waybill !== 1) {`,
    why: "takes what is signed as another kind",
  },
  {
    rule: "WB-60",
    file: MANIFEST,
    find: `if (waybill !== 1 || kind !== "manifest") {`,
    replace: `if (kind !== "manifest") {`,
    why: "takes another version",
  },
  {
    rule: "WB-61",
    file: MANIFEST,
    find: `      throw new WaybillError(401, message, { at: "/keys" });
    }
    verifyCompact(`,
    replace: `      throw new WaybillError(400, message, { at: "/keys" });
    }
    verifyCompact(`,
    why: "answers a manifest without its key like one that can't be read",
  },
  {
    rule: "WB-61",
    file: MANIFEST,
    find: `verifyCompact(text, () => key);`,
    replace: `void verifyCompact;`,
    why: "does not verify manifests",
  },
  {
    rule: "WB-62",
    file: MANIFEST,
    find: `  if (previous !== undefined) checkSuccession(previous, manifest, kid, digest, isPinned);
  else if (fromFirst) checkFirst(manifest);
  const keys = recordsOf(read);
  checkKey((isPinned ? keys : (previous?.keys ?? keys)).get(kid)!, at);`,
    replace: `  const keys = recordsOf(read);
  const believed = new Map([...keys, ...(previous?.keys ?? [])]);
  if (previous !== undefined) checkSuccession({ ...previous, keys: believed }, manifest, kid, digest, isPinned);
  else if (fromFirst) checkFirst(manifest);
  checkKey(believed.get(kid)!, at);`,
    why: "lets a new key speak for itself",
  },
  {
    rule: "WB-62",
    file: MANIFEST,
    find: `  checkKey((isPinned ? keys : (previous?.keys ?? keys)).get(kid)!, at);\n`,
    replace: ``,
    why: "takes an update by a retired key",
  },
  {
    rule: "WB-62",
    file: MANIFEST,
    find: `(isPinned ? keys : (previous?.keys ?? keys)).get(kid)!`,
    replace: `(keys.get(kid) ?? previous!.keys.get(kid))!`,
    why: "lets an update make its own key valid again",
  },
  {
    rule: "WB-63",
    file: MANIFEST,
    find: `if (agent_id !== before.agent_id) {`,
    replace: `if (false) {`,
    why: "lets one agent continue another",
  },
  {
    rule: "WB-63",
    file: MANIFEST,
    find: `if (sequence !== before.sequence + 1) {`,
    replace: `if (sequence === before.sequence) {`,
    why: "takes an update with a skipped number",
  },
  {
    rule: "WB-63",
    file: MANIFEST,
    find: `if (manifest.previous !== previous.digest) {`,
    replace: `if (false) {`,
    why: "takes another branch of history",
  },
  {
    rule: "WB-63",
    file: MANIFEST,
    find: `if (sequence < before.sequence) {`,
    replace: `if (sequence < before.sequence) return;
  if (false) {`,
    why: "takes an old manifest that returns",
  },
  {
    rule: "WB-91",
    file: MANIFEST,
    find: `  else if (fromFirst) checkFirst(manifest);\n`,
    replace: ``,
    why: "takes an agent that it does not know from any manifest on",
  },
  {
    rule: "WB-91",
    file: MANIFEST,
    find: `  else if (fromFirst) checkFirst(manifest);`,
    replace: `  else checkFirst(manifest);`,
    why: "refuses a later manifest to whoever only reads",
  },
  {
    rule: "WB-91",
    file: MANIFEST,
    find: `  if (previous !== undefined) checkSuccession(previous, manifest, kid, digest, isPinned);
  else if (fromFirst)`,
    replace: `  if (previous !== undefined) checkSuccession(previous, manifest, kid, digest, isPinned);
  if (fromFirst)`,
    why: "refuses every update",
  },
  {
    rule: "WB-64",
    file: MANIFEST,
    find: `if (owner === undefined || owner === agent_id) return;`,
    replace: `return;`,
    why: "lets an agent list a key of another",
  },
  {
    rule: "WB-89",
    file: MANIFEST,
    find: `  checkPossession(manifest.agent_id, manifest.keys, read.keys, kid);\n`,
    replace: ``,
    why: "lets an agent list a key that it does not hold",
  },
  {
    rule: "WB-89",
    file: POSSESSION,
    find: `    if (isProven) return;`,
    replace: `    if (isProven || proof === undefined) return;`,
    why: "checks a proof only where there is one",
  },
  {
    rule: "WB-89",
    file: POSSESSION,
    find: `    if (kid === signer) return;`,
    replace: `    if (listed.some((each) => each.kid === signer)) return;`,
    why: "takes the signature of one key for a proof of them all",
  },
  {
    rule: "WB-90",
    file: POSSESSION,
    find: "\\n${agentId}\\n",
    replace: "\\n",
    why: "takes a proof that was made for another agent",
  },
  {
    rule: "WB-90",
    file: POSSESSION,
    find: "\\nsign`",
    replace: "`",
    why: "takes a proof for another purpose",
  },
  {
    rule: "WB-65",
    file: "src/manifest/keyring.ts",
    find: `notAfter: Math.min(record.notAfter, at)`,
    replace: `notAfter: record.notAfter`,
    why: "goes on to believe a key that was dropped",
  },
  {
    rule: "WB-65",
    file: "src/manifest/keyring.ts",
    find: `records.set(kid, { ...record, notAfter: Math.min(record.notAfter, at) });`,
    replace: `records.delete(kid);`,
    why: "forgets a key that was dropped, and what it signed before",
  },
  {
    rule: "WB-66",
    file: "src/schema/shorthand.ts",
    find: `int: { type: "integer" },`,
    replace: `int: { type: "number" },`,
    why: "makes a number of an int",
  },
  {
    rule: "WB-66",
    file: "src/schema/shorthand.ts",
    find: `if (!isOptional) required.push(name);`,
    replace: ``,
    why: "requires no member",
  },
  {
    rule: "WB-66",
    file: "src/manifest/manifest-schema.ts",
    find: `normalizeSchema(capability[member], allowance),`,
    replace: `capability[member],`,
    why: "does not normalise what stands in a manifest",
  },
  {
    rule: "WB-67",
    file: "src/schema/schema-references.ts",
    find: `const home = base === "" ? resource : this.#ids.get(base);`,
    replace: `const home = base === "" ? resource : (this.#ids.get(base) ?? resource);`,
    why: "takes a remote reference for one into the document",
  },
  {
    rule: "WB-67",
    file: "src/schema/schema-references.ts",
    find: `      if (!isThere || (Array.isArray(found) && name === "length")) {`,
    replace: `      if (!isThere) return this.#compile(true, place, home);
      if (Array.isArray(found) && name === "length") {`,
    why: "takes a reference that leads nowhere to allow everything",
  },
  {
    rule: "WB-67",
    file: "src/schema/schema-compile.ts",
    find: `    refuseEndlessReferences(this.#nodes);\n`,
    replace: ``,
    why: "takes a schema that never ends",
  },
  {
    rule: "WB-68",
    file: "src/schema/pattern.ts",
    find: `    test: (text, spend, memory) => search(assembled, text, spend, memory),`,
    replace: `    test: (text, spend) => {
      const from = { ...assembled, isAnchored: true };
      for (let at = 0; at <= text.length; at++) if (search(from, text.slice(at), spend)) return true;
      return false;
    },`,
    why: "searches anew from every place of the text",
  },
  {
    rule: "WB-68",
    file: PATTERN_SYNTAX,
    find: `if (/[1-9k]/.test(letter)) this.#refuse(`,
    replace: `if (/[1-9k]/.test(letter)) return { codePoint };
    if (false) this.#refuse(`,
    why: "takes a backreference for a character",
  },
  {
    rule: "WB-68",
    file: PATTERN_SYNTAX,
    find: `for (const [opening, reason] of REFUSED_GROUPS) if (this.#take(opening)) this.#refuse(reason);`,
    replace: `for (const [opening] of REFUSED_GROUPS) if (this.#take(opening)) break;`,
    why: "takes lookaround for a group",
  },
  {
    rule: "WB-69",
    file: "src/limits.ts",
    find: `schemaDepth: 32,`,
    replace: `schemaDepth: 33,`,
    why: "takes one level more",
  },
  {
    rule: "WB-69",
    file: "src/limits.ts",
    find: `schemaNodes: 10_000,`,
    replace: `schemaNodes: 10_001,`,
    why: "takes one schema more",
  },
  {
    rule: "WB-69",
    file: "src/schema/schema.ts",
    find: `checkSteps: 3_000_000,`,
    replace: `checkSteps: Infinity,`,
    why: "spends any number of steps",
  },
  {
    rule: "WB-69",
    file: "src/schema/schema-run.ts",
    find: `      this.#left -= count;\n`,
    replace: ``,
    why: "counts no steps",
  },
  {
    rule: "WB-93",
    file: "src/schema/schema-compile.ts",
    find: `    takeFrom(allowance, "schemas", 1);\n`,
    replace: ``,
    why: "counts the schemas of each capability by themselves",
  },
  {
    rule: "WB-93",
    file: "src/schema/shorthand.ts",
    find: `  takeFrom(allowance, "characters", characters);\n`,
    replace: ``,
    why: "takes any number of characters",
  },
  {
    rule: "WB-93",
    file: "src/schema/schema-compile.ts",
    find: `takeFrom(this.#limits.allowance, "instructions", pattern.size);`,
    replace: ``,
    why: "bounds each pattern by itself",
  },
  {
    rule: "WB-70",
    file: TRUST,
    find: `if (pin !== undefined) return byVoucher(`,
    replace: `if (pin !== undefined && policy.registry === undefined) return byVoucher(`,
    why: "asks the registry before the pin",
  },
  {
    rule: "WB-70",
    file: TRUST,
    find: `  if (allowList !== undefined) {`,
    replace: `  if (allowList !== undefined && vouched === undefined) {`,
    why: "asks the registry before the allow-list",
  },
  {
    rule: "WB-70",
    file: TRUST,
    find: `  const vouched = registry?.get(agentId);`,
    replace: `  const vouched = firstUse === true ? undefined : registry?.get(agentId);`,
    why: "believes in first use before the registry",
  },
  {
    rule: "WB-70",
    file: TRUST,
    find: `if (firstUse === true) {`,
    replace: `if (firstUse !== false) {`,
    why: "believes in first use unless it is switched off",
  },
  {
    rule: "WB-70",
    file: TRUST,
    find: `return { isTrusted: false, by, status: 403, reason };`,
    replace: `return { isTrusted: false, by, status: 401, reason };`,
    why: "answers another form like what nothing vouches for",
  },
  {
    rule: "WB-70",
    file: TRUST,
    find: `    by: "nothing",
    status: 401,`,
    replace: `    by: "nothing",
    status: 403,`,
    why: "answers what nothing vouches for like what is forbidden",
  },
  {
    rule: "WB-131",
    file: RESERVED,
    find: `    looksOf(first) === "hub" ||
`,
    replace: ``,
    why: "lets anybody be called like a hub",
  },
  {
    rule: "WB-131",
    file: RESERVED,
    find: `looks.startsWith("operator")`,
    replace: `agentId.startsWith("operator")`,
    why: "goes by the spelling of operator",
  },
  {
    rule: "WB-131",
    file: RESERVED,
    find: `looksOf(name) === looks`,
    replace: `name === agentId`,
    why: "goes by the spelling of the hub's own name",
  },
  {
    rule: "WB-114",
    file: MANIFEST,
    find: `previous?.keys.has(kid) === false && vouched?.(kid) === true`,
    replace: `previous?.keys.has(kid) === false`,
    why: "takes any key in the place of the one before",
  },
  {
    rule: "WB-114",
    file: MANIFEST,
    find: `!previous.keys.has(kid) && !isPinned`,
    replace: `!previous.keys.has(kid)`,
    why: "lets no pin change a key",
  },
  {
    rule: "WB-114",
    file: "src/manifest/trust.ts",
    find: `  if (pin !== undefined) return pin.kids?.includes(kid) === true;
`,
    replace: ``,
    why: "asks the registry where a pin names another key",
  },
];
