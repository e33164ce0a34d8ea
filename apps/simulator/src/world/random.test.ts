import { expect, test } from "vitest";
import { Random } from "./random.ts";

function numbers(random: Random): readonly number[] {
  return Array.from({ length: 8 }, () => random.below(1_000_000));
}

test("a stream gives the same numbers each time, whatever other streams draw", () => {
  const random = new Random(7);
  const before = numbers(random.stream("hub-1"));
  numbers(random.stream("hub-2"));
  numbers(random);
  expect(numbers(random.stream("hub-1"))).toEqual(before);
  expect(numbers(new Random(8).stream("hub-1"))).not.toEqual(before);
});

test("streams of one name differ by the stream that they come from", () => {
  const random = new Random(7);
  const of = (hub: string) => numbers(random.stream(hub).stream("ids 0"));
  expect(of("hub-1")).not.toEqual(of("hub-2"));
  expect(of("hub-1")).not.toEqual(numbers(random.stream("ids 0")));
});
