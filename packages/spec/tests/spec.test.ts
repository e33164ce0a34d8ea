import * as fs from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { STATUS, WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";
import { casesByRule, generated, staleFiles } from "../generate/generate.ts";

interface Vector {
  id: string;
  rule: string[];
  input: {
    compact?: unknown;
    compacts?: string[];
    manifests?: { text: string }[];
    manifest?: unknown;
  };
  expect: {
    status?: number | string;
    payload?: { kind: string };
    results?: { status: number | string }[];
  };
}

const SPEC = new URL("../", import.meta.url);

const read = (name: string): string => fs.readFileSync(new URL(name, SPEC), "utf8");
const casesOf = (name: string): Vector[] =>
  (JSON.parse(read(`vectors/${name}.json`)) as { cases: Vector[] }).cases;

// `format` asserts nothing, and a pattern is an ECMA-262 regular expression with the u flag.
const ajv = new Ajv2020({ strict: false, validateFormats: false, unicodeRegExp: true });
const validators = new Map(
  fs.readdirSync(new URL("schemas/", SPEC)).map((name) => {
    const schema = JSON.parse(read(`schemas/${name}`)) as object;
    return [name.replace(".json", ""), ajv.compile(schema)] as const;
  }),
);

function payloadOf(compact: string): { kind?: string } {
  return JSON.parse(Buffer.from(compact.split(".")[1]!, "base64url").toString()) as object;
}

/** The first fault of a payload according to the schema of its kind; undefined if there is none. */
function faultOf(kind: string, payload: unknown): string | undefined {
  const validate = validators.get(kind)!;
  return validate(payload) ? undefined : ajv.errorsText(validate.errors);
}

describe("the generated files", () => {
  test("match the committed ones", { timeout: 30_000 }, () => {
    expect(staleFiles()).toEqual([]);
  });

  test("are found stale if changed, missing or left over", { timeout: 30_000 }, () => {
    const files = generated();
    const [[changed, text]] = files as unknown as [[string, string]];
    const [removed] = [...files.keys()].filter((name) => name.includes("schemas"));
    const altered = new Map(files).set(changed, `${text} `).set("vectors/more.json", "{}");
    altered.delete(removed!);
    expect(new Set(staleFiles(altered))).toEqual(new Set([changed, "vectors/more.json", removed]));
  });

  test("are the same every time, and contain no local path", { timeout: 30_000 }, () => {
    const files = generated();
    expect([...generated()]).toEqual([...files]);
    const root = new URL("../../../", import.meta.url).pathname;
    expect([...files].filter(([, text]) => text.includes(root)).map(([name]) => name)).toEqual([]);
  });

  test("have a case for every rule of the specification", () => {
    const counts = casesByRule();
    expect(counts.size).toBeGreaterThanOrEqual(75);
    expect([...counts].filter(([, count]) => count === 0)).toEqual([]);
  });
});

describe("the pages", () => {
  test("explain every status that an error links to", () => {
    const page = read("status.md");
    for (const code of Object.keys(STATUS).map(Number) as StatusCode[]) {
      const { docs, remedy } = new WaybillError(code, "any");
      const [file, anchor] = docs.replace("@waybill/spec/", "").split("#");
      expect(file).toBe("status.md");
      expect(page).toContain(`<a id="${anchor}"></a>\n\n## ${code} ${STATUS[code].name}\n`);
      expect(page).toContain(remedy);
    }
  });

  test("contain no dangling link", () => {
    for (const name of ["specification.md", "status.md", "lifecycle.md", "vectors/README.md"]) {
      const here = new URL(name, SPEC);
      for (const [, link] of read(name).matchAll(/\]\(([^)]+)\)/g)) {
        const [file, anchor] = link!.split("#");
        if (file !== "") expect(fs.existsSync(new URL(file!, here)), `${name}: ${link}`).toBe(true);
        if (file === "" && anchor !== undefined)
          expect(read(name)).toContain(`<a id="${anchor}"></a>`);
      }
    }
  });
});

describe("the schemas", () => {
  test("accept every envelope that must be accepted", () => {
    const faults: unknown[] = [];
    let checked = 0;
    const check = (id: string, compact: unknown, given?: { kind: string }): void => {
      const payload = typeof compact === "string" ? payloadOf(compact) : given!;
      const fault = faultOf(payload.kind!, payload);
      if (fault !== undefined) faults.push([id, fault]);
      checked++;
    };
    for (const { id, input, expect: expected } of [
      ...casesOf("envelopes"),
      ...casesOf("receipts"),
    ]) {
      if (expected.status === "ok") check(id, input.compact, expected.payload);
    }
    for (const { id, input, expect: expected } of casesOf("batches")) {
      expected.results!.forEach(({ status }, index) => {
        if (status === "ok") check(id, input.compacts![index]);
      });
    }
    expect(faults).toEqual([]);
    expect(checked).toBeGreaterThan(60);
  });

  test("accept every manifest that must be accepted", () => {
    const faults: unknown[] = [];
    for (const { id, input, expect: expected } of casesOf("manifests")) {
      const payloads = expected.results?.map(({ status }, index) =>
        status === "ok" ? payloadOf(input.manifests![index]!.text) : undefined,
      ) ?? [expected.status === "ok" ? input.manifest : undefined];
      for (const payload of payloads) {
        const fault = payload === undefined ? undefined : faultOf("manifest", payload);
        if (fault !== undefined) faults.push([id, fault]);
      }
    }
    expect(faults).toEqual([]);
  });

  test("refuse every envelope that breaks a rule of form", () => {
    const rules = ["WB-03", "WB-04", "WB-05", "WB-26", "WB-28", "WB-35"];
    const taken: string[] = [];
    let checked = 0;
    for (const { id, rule, input, expect: expected } of [
      ...casesOf("envelopes"),
      ...casesOf("receipts"),
    ]) {
      if (expected.status !== 400 || !rule.some((each) => rules.includes(each))) continue;
      let payload: { kind?: string } | null;
      try {
        payload = payloadOf(input.compact as string);
      } catch {
        continue;
      }
      const kind = payload?.kind;
      if (typeof kind !== "string" || !validators.has(kind)) continue;
      checked++;
      if (faultOf(kind, payload) === undefined) taken.push(id);
    }
    expect(taken).toEqual([]);
    expect(checked).toBeGreaterThan(40);
  });
});
