import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WaybillError } from "./error.ts";
import { idSource, idTime, isId, newId } from "./id.ts";

const noRandom = (length: number) => new Uint8Array(length);
const allOnes = (length: number) => new Uint8Array(length).fill(0xff);

describe("newId", () => {
  test("gives ids of the current time that rise and are distinct", () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, () => newId());
    expect(ids.every(isId)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
    expect(idTime(ids[0]!)).toBeGreaterThanOrEqual(before);
    expect(idTime(ids[0]!)).toBeLessThanOrEqual(Date.now());
  });

  test("accepts another time, and returns to the clock afterwards", () => {
    expect(idTime(newId(1_000))).toBe(1_000);
    expect(idTime(newId(253402300799999))).toBe(253402300799999);
    expect(Math.abs(idTime(newId()) - Date.now())).toBeLessThan(60_000);
    expect(idTime(newId(1_000.9))).toBe(1_000);
    expect(Math.abs(idTime(newId()) - Date.now())).toBeLessThan(60_000);
    const [first, second] = [newId(5_000), newId(5_000)];
    expect(first < second).toBe(true);
  });

  test.each([-1, NaN, Infinity, 2 ** 48])("refuses the time %s", (time) => {
    expect(() => newId(time)).toThrow(WaybillError);
    expect(isId(newId())).toBe(true);
  });
});

describe("idSource", () => {
  test("lays out time, version, counter, variant and randomness as in RFC 9562", () => {
    // The timestamp of the example in RFC 9562, appendix A.6.
    const now = () => 0x017f22e279b0;
    expect(idSource({ now, randomBytes: noRandom })()).toBe("017f22e2-79b0-7000-8000-000000000000");
    expect(idSource({ now, randomBytes: allOnes })()).toBe("017f22e2-79b0-77ff-bfff-ffffffffffff");
  });

  test("is determined by clock and randomness", () => {
    const make = () => {
      let time = 1000;
      let seed = 1;
      return idSource({
        now: () => (time += seed % 3 === 0 ? 1 : 0),
        randomBytes: (length) =>
          Uint8Array.from({ length }, () => (seed = (seed * 75 + 74) % 65537) & 0xff),
      });
    };
    const [one, two] = [make(), make()];
    expect(Array.from({ length: 500 }, () => one())).toEqual(
      Array.from({ length: 500 }, () => two()),
    );
  });

  test("rises while the clock stands still, overflows or steps back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 200 }),
        fc.boolean(),
        (steps, high) => {
          let time = 1_000_000;
          const next = idSource({ now: () => time, randomBytes: high ? allOnes : noRandom });
          let previous = "";
          for (const step of steps) {
            time += step;
            const id = next();
            expect(isId(id)).toBe(true);
            expect(id > previous).toBe(true);
            previous = id;
          }
        },
      ),
    );
  });

  test("borrows from the next millisecond when the counter overflows, not before", () => {
    const next = idSource({ now: () => 1000, randomBytes: noRandom });
    const ids = Array.from({ length: 4098 }, () => next());
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[4095]).toBe("00000000-03e8-7fff-8000-000000000000");
    expect(ids[4096]).toBe("00000000-03e9-7000-8000-000000000000");
    expect(idTime(ids[4097]!)).toBe(1001);
  });
});

test("isId accepts only the canonical spelling of version 7", () => {
  const id = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  expect(isId(id)).toBe(true);
  for (const other of [
    id.toUpperCase(),
    id.replaceAll("-", ""),
    `{${id}}`,
    `urn:uuid:${id}`,
    ` ${id}`,
    `${id}\n`,
    id.slice(1),
    `${id}0`,
    id.replace("-7cc3", "-4cc3"),
    id.replace("-98c4", "-78c4"),
    id.replace("-98c4", "-c8c4"),
    id.replace("f", "g"),
    "",
    undefined,
    null,
    7,
    [id],
  ]) {
    expect(isId(other)).toBe(false);
    expect(() => idTime(other as string)).toThrow(WaybillError);
  }
  expect(idTime(id)).toBe(0x017f22e279b0);
});
