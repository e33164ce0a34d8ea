import {
  generateKey,
  parseJson,
  parseManifest,
  readCompact,
  WaybillError,
} from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { peerWith } from "./peering.ts";
import type { Peer } from "./peering.ts";
import { Place } from "./peering-fixture.ts";

let here: Place;
let there: Place;
let opened: Peer[];

// Both have the default name of a hub.
beforeEach(async () => {
  here = await Place.open("hub");
  there = await Place.open("hub");
  opened = [];
});

afterEach(async () => {
  for (const each of opened) await each.close();
  await here.close();
  await there.close();
});

async function peer(from: Place, to: Place, key: PrivateKey = generateKey()): Promise<Peer> {
  const peering = peerWith({ hub: from.hub, url: to.url, key, refreshMs: 50 });
  opened.push(peering);
  await peering.ready;
  return peering;
}

test("an agent hands off to an agent on another hub, with progress, questions and the result", async () => {
  await there.agent("editor", (agent) =>
    agent.serve<string>(
      { name: "edit", input_schema: { type: "string" }, output_schema: { type: "string" } },
      async ({ input, progress, ask }) => {
        await progress({ message: "reading", fraction: 0.5 });
        const style = await ask({ id: "style", text: "Which style?" });
        return `${input} in ${style as string}`;
      },
    ),
  );
  await peer(here, there);
  const owner = await here.agent("owner");
  const handoff = owner.handoff({ capability: "edit", input: "a text" });
  const shown: unknown[] = [];
  const watching = (async () => {
    for await (const { message, fraction } of handoff.progress) shown.push({ message, fraction });
  })();
  for await (const question of handoff.questions) {
    expect(question).toMatchObject({ id: "style", text: "Which style?" });
    await handoff.answer(question.id, "blue");
  }
  const { output, by } = await handoff.result;
  expect(output).toBe("a text in blue");
  expect(by).toMatch(/^via-hub-/);
  await watching;
  expect(shown).toContainEqual({ message: "reading", fraction: 0.5 });
  const [far] = await there.handoffs();
  const view = await there.hub.operator.handoff(far!);
  expect(view).toMatchObject({ state: "completed", attempts: [{ recipient: "editor" }] });
  // One job in both ledgers.
  const { correlation_id: correlation } = handoff.envelope;
  const { handoffs } = await there.hub.operator.correlated(correlation, {
    after: undefined,
    limit: 10,
  });
  expect(handoffs).toHaveLength(1);
});

test("streamed text of the other hub is streamed here", async () => {
  const isShown = Promise.withResolvers<void>();
  await there.agent("editor", (agent) =>
    agent.serve("edit", async ({ delta }) => {
      delta("A te");
      delta("xt.");
      await isShown.promise;
      return "A text.";
    }),
  );
  await peer(here, there);
  const owner = await here.agent("owner");
  const handoff = owner.handoff({ capability: "edit", input: 1 });
  let shown = "";
  for await (const { text } of handoff.deltas) {
    shown += text;
    if (shown === "A text.") isShown.resolve();
  }
  expect(await handoff.result).toMatchObject({ output: "A text." });
});

test("usage on the other hub is counted here, after a failure too", async () => {
  await there.agent("editor", (agent) =>
    agent.serve("edit", ({ addUsage }) => {
      addUsage({ input_tokens: 7, model: "scribe", cost: { amount: "0.25", currency: "EUR" } });
      throw new WaybillError(500, "The pen broke.", { retryable: false });
    }),
  );
  await peer(here, there);
  const owner = await here.agent("owner");
  const handoff = owner.handoff({ capability: "edit", input: 1 });
  await expect(handoff.result).rejects.toThrow("The pen broke.");
  const cost = { amount: "0.25", currency: "EUR" };
  expect(handoff.usage?.own).toEqual([{ input_tokens: 7, model: "scribe", cost }]);
});

test("a session here is a session there, and only for its own delegator", async () => {
  const said = new Map<string, string[]>();
  await there.agent("editor", (agent) =>
    agent.serve<string>("edit", ({ input, session }) => {
      const { key, found } = session!;
      const before = said.get(key) ?? [];
      found(before.length > 0);
      said.set(key, [...before, input]);
      return [...before, input].join(" ");
    }),
  );
  await peer(here, there);
  const [owner, stranger] = [await here.agent("owner"), await here.agent("stranger")];
  const turns = [
    [owner, "one", "one", "begun"],
    [owner, "two", "one two", "continued"],
    [stranger, "three", "three", "begun"],
  ] as const;
  for (const [agent, input, output, session] of turns) {
    const { result } = agent.handoff({ capability: "edit", input, session: "trip" });
    expect(await result).toMatchObject({ output, session });
  }
});

test("files too large for an envelope travel both ways, as blobs of each hub", async () => {
  const film = new Uint8Array(300_000).map((_, index) => index % 251);
  await there.agent("editor", (agent) =>
    agent.serve("edit", async ({ artifacts: [given], result }) =>
      result({ artifacts: [{ name: "cut.bin", bytes: (await given!.bytes()).toReversed() }] }),
    ),
  );
  await peer(here, there);
  const owner = await here.agent("owner");
  const handoff = owner.handoff({
    capability: "edit",
    artifacts: [{ name: "film.bin", bytes: film }],
  });
  const { artifacts } = await handoff.result;
  expect(artifacts).toMatchObject([{ name: "cut.bin", size: film.length }]);
  expect(await artifacts[0]!.bytes()).toEqual(film.toReversed());
});

test("a failure there is the failure here, with its status", async () => {
  await there.agent("editor", (agent) =>
    agent.serve("edit", () => {
      throw new WaybillError(403, "Not this text.");
    }),
  );
  await peer(here, there);
  const owner = await here.agent("owner");
  const error: unknown = await owner
    .handoff({ capability: "edit", input: 1 })
    .result.catch((thrown: unknown) => thrown);
  expect(WaybillError.from(error).message).toContain("Not this text.");
});

test("a cancellation here stops the work there", async () => {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<unknown>();
  await there.agent("editor", (agent) =>
    agent.serve("edit", ({ signal }) => {
      begun.resolve();
      return new Promise<string>((_, reject) =>
        signal.addEventListener("abort", () => {
          stopped.resolve(signal.reason);
          reject(signal.reason as Error);
        }),
      );
    }),
  );
  await peer(here, there);
  const owner = await here.agent("owner");
  const handoff = owner.handoff({ capability: "edit", input: 1 });
  await begun.promise;
  await handoff.cancel();
  expect(await stopped.promise).toMatchObject({ status: 499 });
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
});

test("a peering that is interrupted continues with the same handoff", async () => {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<string>();
  let worked = 0;
  await there.agent("editor", (agent) =>
    agent.serve("edit", () => {
      worked++;
      begun.resolve();
      return finish.promise;
    }),
  );
  const key = generateKey();
  const first = await peer(here, there, key);
  const owner = await here.agent("owner");
  const handoff = owner.handoff({ capability: "edit", input: 1 });
  await begun.promise;
  await first.close();
  finish.resolve("done");
  await peer(here, there, key);
  expect(await handoff.result).toMatchObject({ output: "done" });
  expect(worked).toBe(1);
  expect(await there.handoffs()).toHaveLength(1);
});

test("two hubs that are peers of each other relay nothing in a circle", async () => {
  await there.agent("editor", (agent) => agent.serve("edit", () => "from there"));
  await here.agent("writer", (agent) => agent.serve("write", () => "from here"));
  await peer(here, there);
  await peer(there, here);
  const offered = async ({ hub }: Place, capability: string) =>
    (await hub.find({ capability })).fits.map(({ agent_id }) =>
      agent_id.replace(/-[0-9a-f]{8}$/, ""),
    );
  expect(await offered(here, "edit")).toEqual(["via-hub"]);
  expect(await offered(there, "edit")).toEqual(["editor"]);
  expect(await offered(there, "write")).toEqual(["via-hub"]);
  expect(await offered(here, "write")).toEqual(["writer"]);
});

test("a capability granted to the relay alone is not offered here", async () => {
  const key = generateKey();
  await there.agent("editor", (agent) => {
    agent.serve({ name: "edit", from: { keys: [key.kid] } }, () => "done");
    agent.serve("review", () => "done");
  });
  await peer(here, there, key);
  const owner = await here.agent("owner");
  await expect(owner.handoff({ capability: "review" }).result).resolves.toMatchObject({
    output: "done",
  });
  await expect(owner.handoff({ capability: "edit" }).custody).rejects.toMatchObject({
    status: 404,
  });
});

test("a new capability there is offered here", async () => {
  const known = peerWith({ hub: here.hub, url: there.url, key: generateKey(), refreshMs: 20 });
  opened.push(known);
  await known.ready;
  const published = new Promise<void>((resolve) => {
    const stop = here.hub.operator.watch(({ event }) => {
      if (event !== "published") return;
      stop();
      resolve();
    });
  });
  await there.agent("editor", (agent) => agent.serve("edit", () => "done"));
  await published;
  const owner = await here.agent("owner");
  expect(await owner.handoff({ capability: "edit", input: 1 }).result).toMatchObject({
    output: "done",
  });
});

test("the relay's card says on which hub its agents are", async () => {
  await there.agent("editor", (agent) => agent.serve("edit", () => "done"));
  await peer(here, there);
  const { fits } = await here.hub.find({ capability: "edit" });
  const { manifest: signed } = await here.hub.operator.presence(fits[0]!.agent_id);
  const manifest = parseManifest(parseJson(readCompact(signed).payload));
  expect(manifest.discovery_endpoint).toBe(`${there.url}/.well-known/waybill`);
  const wellKnown = (await (await fetch(manifest.discovery_endpoint!)).json()) as { hub: string };
  expect(wellKnown.hub).toBe(there.hub.id);
  expect(fits[0]!.capability.tags).toContain("waybill:peer");
});
