import { expect, test } from "vitest";
import { outputOf } from "./output.ts";

const SCHEMA = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

test.for([
  ["JSON alone", '{"n":1}'],
  ["JSON in a fence, with words around it", 'Here:\n```json\n{"n":1}\n```\nThat is it.'],
])("%s is the output", async ([, reply]) => {
  expect(await outputOf(reply!, SCHEMA)).toEqual({ n: 1 });
});

test("a reply is taken as text where the schema takes text, even if it looks like JSON", async () => {
  expect(await outputOf('{"n":1}', {})).toBe('{"n":1}');
  expect(await outputOf("Bergen", { type: "string" })).toBe("Bergen");
});

test("a reply that does not match the schema is requested once more, with the reason", async () => {
  const requests: string[] = [];
  const again = async (request: string) => {
    requests.push(request);
    return '{"n":2}';
  };
  expect(await outputOf('{"n":"two"}', SCHEMA, again)).toEqual({ n: 2 });
  expect(requests).toEqual([expect.stringMatching(/\/n: .*JSON Schema: \{"type":"object"/)]);
});

test("a second reply that does not match is a 520", async () => {
  let asked = 0;
  const again = async () => `no ${++asked}`;
  await expect(outputOf("no", SCHEMA, again)).rejects.toMatchObject({ status: 520 });
  expect(asked).toBe(1);
  await expect(outputOf('{"n":"two"}', SCHEMA)).rejects.toMatchObject({
    status: 520,
    message: expect.stringContaining("/n"),
  });
  await expect(outputOf("  ", {})).rejects.toMatchObject({ status: 520 });
});
