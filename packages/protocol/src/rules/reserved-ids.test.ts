import { expect, test } from "vitest";
import { isReservedId } from "../hub.ts";

test("WB-131 an id that begins like operator is reserved, in any spelling", () => {
  for (const id of ["operator", "operator-2", "operators", "0perator", "op3rat0r.9", "oper-ator"]) {
    expect(isReservedId(id, []), id).toBe(true);
  }
  for (const id of ["opera", "smooth-operator", "o", "forklift.operator"]) {
    expect(isReservedId(id, []), id).toBe(false);
  }
});

test("WB-131 an id that a hub could have is reserved", () => {
  for (const id of ["hub", "hub-0123456789ab", "hub.main", "hu8-1"]) {
    expect(isReservedId(id, []), id).toBe(true);
  }
  for (const id of ["hubert", "github-bot", "my-hub"]) expect(isReservedId(id, []), id).toBe(false);
});

test("WB-131 an id that looks like the hub's or an operator's agent's is reserved", () => {
  const names = ["acme-main", "alice"];
  for (const id of ["acme-main", "acme.main", "acrne-main", "acme-ma1n", "a11ce", "al-ice"]) {
    expect(isReservedId(id, names), id).toBe(true);
  }
  // `cl` looks like `d`, and `c1` and `ci` look like `cl`.
  for (const id of ["cloud", "c1oud", "cioud", "doud"]) {
    expect(isReservedId(id, ["cloud"]), id).toBe(true);
  }
  for (const id of ["acme-main-2", "malice", "acme"]) {
    expect(isReservedId(id, names), id).toBe(false);
  }
});
