import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileSchema, JsonSchemaError } from "@waybill/json-schema";
import type { CompiledSchema } from "@waybill/json-schema";

/** The validator's verdicts on the cases of one file of the suite. */
export interface FileVerdicts {
  /** Its name, such as `allOf` or `optional/bignum`. */
  readonly name: string;
  readonly right: number;
  /** How many cases were refused for each of the known reasons. */
  readonly refused: ReadonlyMap<string, number>;
  /** The cases with a wrong verdict, and those refused for an unknown reason. */
  readonly wrong: readonly string[];
}

interface Group {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

/** Why the validator refuses valid schemas on purpose, recognised by its message. */
const REASONS: readonly (readonly [message: RegExp, reason: string])[] = [
  [/leads out of this document/, "reference to another document"],
  [/dynamic scope isn't supported/, "`$dynamicRef` with several targets"],
  [/"__proto__" is reserved/, "the name `__proto__`"],
  [/unknown dialect/, "a meta-schema of its own"],
];

/** Optional cases of `format` are skipped: it is an annotation here. */
const FOLDERS = ["", "optional"];

/** Judges every case for draft 2020-12 in a folder that holds the official test suite. */
export function judgeSuite(suite: string): FileVerdicts[] {
  return FOLDERS.flatMap((folder) => {
    const path = join(suite, "tests", "draft2020-12", folder);
    const files = readdirSync(path).filter((file) => file.endsWith(".json"));
    return files.toSorted().map((file) => {
      const groups = JSON.parse(readFileSync(join(path, file), "utf8")) as Group[];
      return judgeFile(join(folder, file.slice(0, -".json".length)), groups);
    });
  });
}

function judgeFile(name: string, groups: readonly Group[]): FileVerdicts {
  const refused = new Map<string, number>();
  const wrong: string[] = [];
  let right = 0;
  for (const { description, schema, tests } of groups) {
    const compiled = compile(schema);
    if (typeof compiled !== "string") {
      for (const { description: what, data, valid } of tests) {
        if ((compiled.check(data).length === 0) === valid) right += 1;
        else wrong.push(`${description}: ${what}`);
      }
      continue;
    }
    const reason = REASONS.find(([message]) => message.test(compiled))?.[1];
    if (reason === undefined) wrong.push(`${description}: ${compiled}`);
    else refused.set(reason, (refused.get(reason) ?? 0) + tests.length);
  }
  return { name, right, refused, wrong };
}

/** The compiled schema, or the message with which it is refused. */
function compile(schema: unknown): CompiledSchema | string {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (!JsonSchemaError.is(error)) throw error;
    return error.message;
  }
}
