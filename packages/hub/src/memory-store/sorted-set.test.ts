import fc from "fast-check";
import { expect, test } from "vitest";
import { IdIndex } from "./id-index.ts";
import { SortedSet } from "./sorted-set.ts";

test("a sorted set is a set and sorted, at any size", () => {
  const action = fc.record({ isAdd: fc.boolean(), value: fc.nat({ max: 3000 }) });
  const actions = fc.array(action, { maxLength: 3000, size: "max" });
  fc.assert(
    fc.property(actions, fc.nat({ max: 3000 }), (all, cursor) => {
      const set = new SortedSet<number>((a, b) => a - b);
      const model = new Set<number>();
      for (const { isAdd, value } of all) {
        if (isAdd) {
          set.add(value);
          model.add(value);
        } else {
          set.delete(value);
          model.delete(value);
        }
      }
      const sorted = [...model].toSorted((a, b) => a - b);
      expect([...set.after()]).toEqual(sorted);
      expect([...set.after(cursor)]).toEqual(sorted.filter((value) => value > cursor));
      expect(set.first()).toBe(sorted[0]);
      expect(set.isEmpty).toBe(sorted.length === 0);
    }),
    { numRuns: 30 },
  );
});

test("an index finds the ids of a name, one or many", () => {
  const action = fc.record({
    isAdd: fc.boolean(),
    name: fc.constantFrom("a", "b"),
    id: fc.constantFrom("1", "2", "3"),
  });
  fc.assert(
    fc.property(fc.array(action), (all) => {
      const index = new IdIndex();
      const model = new Set<string>();
      for (const { isAdd, name, id } of all) {
        if (isAdd) {
          index.add(name, id);
          model.add(name + id);
        } else {
          index.delete(name, id);
          model.delete(name + id);
        }
      }
      for (const name of ["a", "b"]) {
        const ids = ["1", "2", "3"].filter((id) => model.has(name + id));
        expect([...index.after(name, undefined)]).toEqual(ids);
        expect([...index.after(name, "1")]).toEqual(ids.filter((id) => id > "1"));
      }
    }),
  );
});
