import * as waybill from "@waybill/protocol";
import { eventOf, step } from "@waybill/protocol/hub";

// Two agents, each with a key of its own and a signed manifest that says so.
const at = Date.now();
const keys = { editor: waybill.generateKey(), researcher: waybill.generateKey() };
const { keyOf } = waybill.keyring(
  Object.entries(keys).map(([agent_id, key]) =>
    waybill.verifyManifest(waybill.signManifest({ agent_id, capabilities: [] }, key), { at }),
  ),
);

// The custody domain: the thumbprint of the key that signed the hub's first manifest.
const domain = waybill.generateKey().kid;

// The editor hands off: what goes over the wire is one signed string, for this domain alone.
const body = { capability: "web_research", input: { query: "Who invented the waybill?" } };
const handoff = waybill.createHandoff({
  from: "editor",
  domain,
  to: "researcher",
  body,
  timeoutMs: 60_000,
});
const sent = waybill.signEnvelope(handoff, keys.editor);
const { digest } = waybill.verifyEnvelope(sent, { keyOf, at, to: "researcher", domain });

// The researcher accepts exactly what it verified, by its digest, and answers with a result.
const mine = { from: "researcher", attempt: 1, re: digest };
const replies = [
  waybill.createReply(handoff, { kind: "receipt", ...mine, body: { status: 101 } }),
  waybill.createReply(handoff, {
    kind: "result",
    ...mine,
    body: { status: 200, output: "Nobody knows." },
  }),
];

// What that makes of the handoff is one pure function, the same for everyone.
let life = step(undefined, eventOf(handoff, digest, at)!).state!;
life = step(life, { type: "offer", recipient: "researcher", at }).state!;
for (const reply of replies) {
  const got = waybill.verifyEnvelope(waybill.signEnvelope(reply, keys.researcher), { keyOf, at });
  life = step(life, eventOf(got.envelope, got.digest, at)!).state!;
  const status = `${life.status} ${waybill.STATUS[life.status].name}`;
  console.log(`The researcher sends its ${reply.kind}: the handoff is ${life.state}, ${status}`);
}

// Whoever changes one character on the way is found out.
try {
  const forged = sent.slice(0, 300) + (sent[300] === "A" ? "B" : "A") + sent.slice(301);
  waybill.verifyEnvelope(forged, { keyOf, at });
} catch (error) {
  console.log(`A forged envelope is refused: ${waybill.WaybillError.from(error).message}`);
}
