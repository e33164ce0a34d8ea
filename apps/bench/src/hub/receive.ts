/// <reference types="node" />
// Started by ours.ts: the recipient, in its own process.
import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { CAPABILITY } from "../custody/ours.ts";
import { outputOf } from "../custody/job.ts";

/** How many attempts it takes at once: more than are ever in flight. */
const CREDIT = 256;

const [url] = process.argv.slice(2);
const hub = await connect(url);
const recipient = createAgent({ id: "recipient", key: generateKey(), hub, credit: CREDIT });
recipient.serve<{ text: string }>(CAPABILITY, ({ input }) => outputOf(input));
await recipient.start();
process.send!("ready");
process.on("disconnect", () => process.exit());
