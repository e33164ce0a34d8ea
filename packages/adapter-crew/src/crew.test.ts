import type { Agent, Work } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Capability, Json } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Crew, Task } from "./crew.ts";
import type { Assignment, Member } from "./member.ts";
import { askedMember, localMember, remoteMember } from "./members.ts";
import { runCrew } from "./run-crew.ts";
import { serveCrew } from "./serve.ts";
import { world } from "@waybill/conformance/vitest";

/** A member that records what it was given, and delivers the next of its outputs. */
function keeping(role: string, ...outputs: readonly Json[]) {
  const given: Assignment[] = [];
  const member = localMember({
    role,
    goal: `Does what a ${role} does.`,
    run: (assignment) => outputs[given.push(assignment) - 1]!,
  });
  return { ...member, given };
}

function task(name: string, member: string, more: Partial<Task> = {}): Task {
  return { name, member, description: `Do ${name}.`, expectedOutput: "A line.", ...more };
}

/** Serves one capability, and gives it as others find it. */
async function serving(agent: Agent, name: string, handler: (work: Work) => Json | Promise<Json>) {
  agent.serve({ name, takes: "delegation", description: `Can ${name}.` }, handler);
  await agent.start();
  return { name, takes: "delegation" } as Capability;
}

test("a task gets the outcomes of earlier tasks, or of those that it names", async () => {
  const writer = keeping("writer", "Rain.", "Snow.", "Hail.", "All of it.");
  const { output, outcomes } = await runCrew(
    {
      members: [writer],
      tasks: [
        task("first", "writer"),
        task("second", "writer"),
        task("third", "writer", { context: ["first"] }),
        task("fourth", "writer", { context: [] }),
      ],
    },
    { run: "run-1", request: { brief: { instruction: "About the weather." } } },
  );
  expect(output).toBe("All of it.");
  expect(outcomes.map(({ task: name, by }) => [name, by])).toEqual(
    ["first", "second", "third", "fourth"].map((name) => [name, "writer"]),
  );
  const told = writer.given.map(({ brief }) =>
    ["weather", "Rain.", "Snow."].filter((each) => brief.instruction.includes(each)),
  );
  expect(told).toEqual([["weather"], ["weather", "Rain."], ["weather", "Rain."], ["weather"]]);
  expect(writer.given.at(1)!.brief).toEqual({
    instruction: expect.stringMatching(/^Do second\./),
    expected_output: "A line.",
  });
});

test("a task gets earlier media as files, and is told their names", async () => {
  const image = { type: "image", media_type: "image/png", name: "tree.png", data: "_-8" };
  const elsewhere = { type: "image", media_type: "image/png", url: "https://a.example/b" };
  const painter: Member = {
    role: "painter",
    goal: "Paints.",
    work: async () => ({ messages: [{ role: "assistant", content: [image, elsewhere] }] }),
  };
  const critic = keeping("critic", "Fine.");
  const { output } = await runCrew(
    { members: [painter, critic], tasks: [task("paint", "painter"), task("judge", "critic")] },
    { run: "run-1" },
  );
  expect(output).toBe("Fine.");
  const [{ brief, artifacts }] = critic.given as [Assignment];
  expect(artifacts).toMatchObject([{ name: "tree.png", media_type: "image/png", data: "_-8" }]);
  expect(brief.instruction).toContain("tree.png");
  expect(brief.instruction).toContain("https://a.example/b");
});

test("asynchronous tasks run concurrently, and are done before the next synchronous one", async () => {
  const all = Promise.withResolvers<void>();
  let running = 0;
  const scout = localMember({
    role: "scout",
    goal: "Looks.",
    async run({ step }) {
      if (++running === 2) all.resolve();
      await all.promise;
      return step;
    },
  });
  const writer = keeping("writer", "done");
  const { outcomes } = await runCrew(
    {
      members: [scout, writer],
      tasks: [
        task("north", "scout", { isAsync: true }),
        task("south", "scout", { isAsync: true }),
        task("report", "writer"),
      ],
    },
    { run: "run-1" },
  );
  expect(outcomes.map(({ output }) => output)).toEqual(["north/1", "south/1", "done"]);
  expect(writer.given[0]!.brief.instruction).toMatch(/north\/1[\s\S]*south\/1/);
});

test("an asynchronous task that fails stops the others, wherever they run", async () => {
  const { agent } = await world();
  const started = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<unknown>();
  const scout = await serving(agent("scout-1"), "scout", async ({ signal }) => {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    stopped.resolve((signal.reason as WaybillError).status);
    throw signal.reason;
  });
  const failing = localMember({
    role: "failing",
    goal: "Fails.",
    async run() {
      await started.promise;
      throw new Error("The sea is in the way.");
    },
  });
  const ended = runCrew(
    {
      members: [remoteMember(agent("crew"), scout), failing],
      tasks: [task("far", "scout", { isAsync: true }), task("near", "failing", { isAsync: true })],
    },
    { run: "run-1" },
  );
  await expect(ended).rejects.toThrow("The sea is in the way.");
  expect(await stopped.promise).toBe(499);
});

test("a delivery that a guardrail rejects is requested again, by a new handoff with the reason", async () => {
  const { agent } = await world();
  const briefs: string[] = [];
  const count = await serving(agent("counter-1"), "count", ({ body }) => {
    briefs.push(body.brief!.instruction);
    return briefs.length;
  });
  const crew = (triesAtMost: number): Crew => ({
    members: [remoteMember(agent(`crew-${triesAtMost}`), count)],
    tasks: [
      task("counting", "count", {
        triesAtMost,
        guardrails: [({ output }) => ((output as number) < 3 ? "it is below 3" : undefined)],
      }),
    ],
  });
  await expect(runCrew(crew(2), { run: "run-1" })).rejects.toMatchObject({
    status: 520,
    message: expect.stringContaining("it is below 3"),
  });
  expect(briefs[1]).toMatch(/can't be used: it is below 3[\s\S]*\n1\n/);
  expect((await runCrew(crew(3), { run: "run-1" })).output).toBe(3);
});

test("an output has the form that its task states, or is requested again", async () => {
  const output = {
    type: "object",
    properties: { rain: { type: "boolean" } },
    required: ["rain"],
  };
  const writer = keeping("writer", "It rains.", '```json\n{"rain": true}\n```');
  const result = await runCrew(
    { members: [writer], tasks: [task("say", "writer", { output })] },
    { run: "run-1" },
  );
  expect(result.output).toEqual({ rain: true });
  expect(writer.given[0]!.brief.expected_output).toContain('"rain"');
  const silent = keeping("writer", "", " ", "");
  await expect(
    runCrew({ members: [silent], tasks: [task("say", "writer")] }, { run: "run-1" }),
  ).rejects.toMatchObject({ status: 520, message: expect.stringContaining("empty") });
});

test("a waiting crew resumes with the answer, and repeats nothing", async () => {
  const runs: string[] = [];
  const local = (role: string) => {
    const run = ({ step }: Assignment) => {
      runs.push(step);
      return `by ${role}`;
    };
    return localMember({ role, goal: "Works.", run });
  };
  const crew: Crew = {
    members: [local("first"), local("beside"), askedMember("editor", "Decides."), local("last")],
    tasks: [
      task("begin", "first"),
      task("look", "beside", { isAsync: true }),
      task("decide", "editor", { isAsync: true }),
      task("end", "last"),
    ],
  };
  const waiting = await runCrew(crew, { run: "run-1" });
  expect(waiting).toMatchObject({ output: undefined, questions: [{ id: "decide/1/editor" }] });
  expect(runs).toEqual(["begin/1", "look/1"]);
  const { output, outcomes } = await runCrew(crew, {
    run: "run-1",
    after: JSON.parse(JSON.stringify(waiting.state)) as typeof waiting.state,
    answers: new Map([["decide/1/editor", "Print it."]]),
  });
  expect([output, outcomes.map(({ task: name }) => name)]).toEqual([
    "by last",
    ["begin", "look", "decide", "end"],
  ]);
  expect(runs).toEqual(["begin/1", "look/1", "end/1"]);
});

test("a failed delegation is the crew's failure on the wire, as a 424", async () => {
  const { agent } = await world();
  const pay = await serving(agent("payer-1"), "pay", () => {
    throw new WaybillError(413, "That is too much.");
  });
  const crew = agent("crew");
  const members = [remoteMember(crew, pay)];
  crew.serve(...serveCrew({ members, tasks: [task("paying", "pay")] }, { name: "buy" }));
  await crew.start();
  const buying = agent("owner").handoff({ capability: "buy", input: "a ship" }).result;
  await expect(buying).rejects.toMatchObject({
    status: 424,
    message: expect.stringContaining("413: That is too much."),
  });
});

const idle: Member = localMember({ role: "idle", goal: "Nothing.", run: () => "nothing" });

test.for<[string, Crew, RegExp]>([
  [
    "two tasks of one name",
    { members: [idle], tasks: [task("a", "idle"), task("a", "idle")] },
    /called a/,
  ],
  [
    "a context that comes later",
    { members: [idle], tasks: [task("a", "idle", { context: ["b"] }), task("b", "idle")] },
    /builds on b/,
  ],
  [
    "a context that runs beside it",
    {
      members: [idle],
      tasks: [
        task("a", "idle", { isAsync: true }),
        task("b", "idle", { isAsync: true, context: ["a"] }),
      ],
    },
    /builds on a/,
  ],
  [
    "a task for nobody",
    { members: [idle], tasks: [{ name: "a", description: "Do.", expectedOutput: "It." }] },
    /has no member/,
  ],
])("%s is a 422", async ([, crew, says]) => {
  await expect(runCrew(crew, { run: "run-1" })).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(says),
  });
});

test("a task for an unknown member is a 404", async () => {
  await expect(
    runCrew({ members: [idle], tasks: [task("a", "stranger")] }, { run: "run-1" }),
  ).rejects.toMatchObject({ status: 404, message: expect.stringContaining("stranger") });
});
