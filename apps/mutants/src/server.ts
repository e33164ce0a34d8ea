import { testsOf } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

const agentSocket = testsOf("src/socket/agent-socket.test.ts");
const contacts = testsOf("src/webhook/contacts.test.ts");

/** Faults in the server that its own harness does not plant. */
export const SERVER: readonly Mutant[] = [
  {
    name: "a socket that closes during its hello stays attached",
    file: "src/socket/agent-socket.ts",
    find: "    if (this.#isClosing) return attachment.close();\n",
    replace: "",
    seenBy: agentSocket(
      "an agent whose socket is gone before its hello is answered is not attached",
    ),
  },
  {
    name: "a socket accepts a second hello",
    file: "src/socket/agent-socket.ts",
    find: "        if (this.#isGreeting) throw new WaybillError(400,",
    replace: '        if (frame.proof === "") throw new WaybillError(400,',
    seenBy: agentSocket("a socket takes one hello, and frames only after it"),
  },
  {
    name: "the backoff of a webhook has no cap",
    file: "src/webhook/contacts.ts",
    find: "return { firstMs: webhookWaitMs, mostMs };",
    replace: "void mostMs;\n    return { firstMs: webhookWaitMs, mostMs: Infinity };",
    seenBy: contacts(
      "an inbox that has never echoed is retried up to once an hour, one that is down up to once a minute",
    ),
  },
  {
    name: "an inbox that echoes is charged like a stranger's",
    file: "src/webhook/contacts.ts",
    find: "for (const [rates, payer] of paid.splice(0)) rates.refund(payer, now, 1);",
    replace: "paid.splice(0);",
    seenBy: contacts("an inbox that echoes is free: a host may have any number of them"),
  },
];
