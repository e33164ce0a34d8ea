import { expect, test } from "vitest";
import { OfferingAgents } from "./offering-agents.ts";

interface Agent {
  readonly name: string;
  room: number;
}

function offering(...names: string[]) {
  const agents = new OfferingAgents<Agent>();
  const sessions = names.map((name) => ({ name, room: 1 }));
  for (const session of sessions) agents.put(session, session.name.startsWith("proven"));
  const withRoom = (start: number, most: number) =>
    Array.from(agents.withRoom(start, most), ({ name }) => name);
  return { agents, sessions, withRoom };
}

test("those who have proven themselves come first, and the first one rotates", () => {
  const { withRoom } = offering("a", "proven", "b", "proven too");
  expect(withRoom(0, 10)).toEqual(["proven", "proven too", "a", "b"]);
  expect(withRoom(1, 10)).toEqual(["proven too", "proven", "b", "a"]);
  expect(withRoom(0, 3)).toEqual(["proven", "proven too", "a"]);
  expect(withRoom(0, 1)).toEqual(["proven"]);
});

test("of many who have proven themselves, some make room for newcomers", () => {
  const proven = Array.from({ length: 20 }, (_, at) => `proven ${at}`);
  const { withRoom } = offering(...proven, "new", "newer");
  expect(withRoom(0, 16)).toEqual([...proven.slice(0, 14), "new", "newer"]);
  expect(withRoom(0, 4)).toEqual([...proven.slice(0, 3), "new"]);
  expect(withRoom(1, 4).at(-1)).toBe("newer");
});

test("who has no room is not among those that are looked at until it has room again", () => {
  const { agents, sessions, withRoom } = offering("a", "b", "c");
  const [first] = sessions;
  first!.room = 0;
  agents.put(first!, false);
  expect(withRoom(0, 10).toSorted()).toEqual(["b", "c"]);
  expect([...agents.busy]).toEqual([first]);
  first!.room = 1;
  agents.put(first!, true);
  expect(withRoom(0, 10)[0]).toBe("a");
  expect(agents.busy.size).toBe(0);
});

test("who has left is found no more", () => {
  const { agents, sessions, withRoom } = offering("a", "b", "c");
  agents.delete(sessions[0]!);
  agents.delete(sessions[0]!);
  expect(withRoom(0, 10).toSorted()).toEqual(["b", "c"]);
  expect(agents.size).toBe(2);
});
