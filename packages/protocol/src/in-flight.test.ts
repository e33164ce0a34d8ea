import fc from "fast-check";
import { expect, test } from "vitest";
import { InFlight } from "./in-flight.ts";

const step = fc.record({
  action: fc.constantFrom("set", "set", "delete", "clear"),
  key: fc.integer({ min: 0, max: 5 }),
  value: fc.integer(),
});

test("holds what a map would hold, in the same order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new Map<number, number>();
      const inFlight = new InFlight<number, number>();
      for (const { action, key, value } of steps) {
        if (action === "set") {
          map.set(key, value);
          inFlight.set(key, value);
        } else if (action === "delete") {
          expect(inFlight.delete(key)).toBe(map.delete(key));
        } else {
          map.clear();
          inFlight.clear();
        }
        expect(inFlight.get(key)).toBe(map.get(key));
        expect(inFlight.has(key)).toBe(map.has(key));
        expect(inFlight.size).toBe(map.size);
        expect([...inFlight.keys()]).toEqual([...map.keys()]);
        expect([...inFlight.values()]).toEqual([...map.values()]);
      }
    }),
  );
});

test("skips what is deleted during an iteration, like a map", () => {
  const inFlight = new InFlight<string, number>();
  for (const [index, key] of ["a", "b", "c"].entries()) inFlight.set(key, index);
  const met: number[] = [];
  for (const value of inFlight.values()) {
    met.push(value);
    inFlight.delete("b");
  }
  expect(met).toEqual([0, 2]);
});
