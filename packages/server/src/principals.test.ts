import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, asOperator, openWorld } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("WB-217 an operator puts principals into groups over HTTP, and reads them back", async () => {
  const path = "/v1/groups/customers";
  const add = (...names: string[]) => {
    const body = { add: names };
    const headers = asOperator(world.served, `${path}/members`, { body });
    return ask(`${world.url}${path}/members`, { method: "POST", body, headers });
  };
  const name = "gateway/ada@example.com";
  expect((await add("anna", name)).status).toBe(204);
  const { json } = await ask(world.url + path, { headers: asOperator(world.served, path) });
  expect(json).toMatchObject({ name: "customers", members: ["anna", name] });
  for (const wrong of ["gateway/", "/ada", "gateway/a b"]) {
    expect((await add(wrong)).status).toBe(400);
  }
  expect((await ask(world.url + path)).status).toBe(401);
});
