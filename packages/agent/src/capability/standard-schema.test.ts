import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import * as z from "zod";
import { readWith } from "./standard-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

const SCHEMAS: Readonly<Record<string, { word: StandardSchema; list: StandardSchema }>> = {
  zod: { word: z.enum(["a", "b"]), list: z.object({ words: z.array(z.enum(["a", "b"])) }) },
  Valibot: {
    word: v.picklist(["a", "b"]),
    list: v.object({ words: v.array(v.picklist(["a", "b"])) }),
  },
  ArkType: { word: type("'a' | 'b'"), list: type({ words: "('a' | 'b')[]" }) },
};

test.each(Object.entries(SCHEMAS))("issues found by %s have their places", async (_, schemas) => {
  const { faults: atTheRoot = [] } = await readWith(schemas.word, "c");
  expect(atTheRoot.map(({ at }) => at)).toEqual([""]);
  const { faults: inside = [] } = await readWith(schemas.list, { words: ["a", "c"] });
  expect(inside.map(({ at }) => at)).toEqual(["/words/1"]);
});
