import { createAgent } from "@waybill/agent";
import { textMessage } from "@waybill/agent/adapter";
import { memoryStore, openHub } from "@waybill/hub";
import { expect, test } from "vitest";
import { Echo } from "./echo.ts";
import { serveEcho } from "./serve.ts";

test("an Echo's reply is returned, and its own limit is the handoff's", async () => {
  const hub = await openHub({ store: memoryStore() });
  const [parrot, owner] = ["parrot", "owner"].map((id) => createAgent({ id, hub }));
  parrot!.serve(...serveEcho(new Echo(), { name: "repeat", takes: "conversation" }));
  await parrot!.start();
  const repeat = (count: number) => {
    const messages = Array.from({ length: count }, () => textMessage("user", "ahoy", "pirate"));
    return owner!.handoff({ capability: "repeat", messages }).result;
  };
  expect((await repeat(2)).messages).toEqual([
    textMessage("user", "ahoy", "pirate"),
    textMessage("user", "ahoy", "pirate"),
  ]);
  await expect(repeat(1001)).rejects.toMatchObject({
    status: 413,
    message: "An Echo listens to 1000 lines at most.",
  });
  await Promise.all([parrot!.stop(), owner!.stop()]);
  await hub.close();
});
