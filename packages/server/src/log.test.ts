import { expect, test } from "vitest";
import { memoryStore } from "@waybill/hub";
import { hubLogger, logTo } from "./log.ts";
import { ask, openWorld } from "./served-fixture.ts";

const SECRET = "the-secret-of-the-content";

test("no log line contains content, keys, proofs or tokens, whatever fails", async () => {
  const lines: string[] = [];
  const logger = hubLogger({ level: "debug", destination: { write: (line) => lines.push(line) } });
  const store = memoryStore();
  // The only call that fails; the store itself is the real one.
  const failing = new Proxy(store, {
    get(target, name) {
      if (name === "correlated") {
        return () => Promise.reject(new Error(`the disk has eaten ${SECRET}`));
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  const world = await openWorld({
    hub: { store: failing, log: logTo(logger) },
    serve: { logger },
  });
  const owner = await world.party("owner", [{ name: "work", description: SECRET }]);
  const body = { capability: "work", input: SECRET };
  const handoff = owner.handoff("owner", { body });
  const wire = await owner.attach();
  await owner.submit(handoff.text);
  await wire.delivery("offer");
  await owner.submit(`${handoff.text}${SECRET}`);
  await ask(`${world.url}/v1/envelopes`, { body: `{"${SECRET}":` });
  await ask(`${world.url}/${SECRET}`);
  await ask(`${world.url}/v1/ledger`, { headers: { authorization: `Bearer ${SECRET}` } });
  const path = `/v1/handoffs?correlation_id=${handoff.envelope.correlation_id}`;
  const failed = await owner.ask(path);
  expect(failed.json).toMatchObject({ waybill_status: 500 });
  expect(failed.text).not.toContain(SECRET);
  const authorization = owner.proof(path, "GET");
  await wire.close();
  await world.close();
  logger.info({ envelope: SECRET, deeper: { token: SECRET } }, "second lock");

  const log = lines.join("");
  expect(log).toContain('"route":"/v1/envelopes"');
  expect(log).toContain('"agent":"owner"');
  expect(log).toContain('"msg":"attached"');
  expect(log).toContain('"status":500');
  for (const secret of [
    SECRET,
    handoff.text.split(".")[1]!,
    authorization.split(".")[2]!,
    world.served.operatorToken,
  ]) {
    expect(log).not.toContain(secret);
  }
});
