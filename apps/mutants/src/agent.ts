import { testsOf } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

const handle = testsOf("src/delegating/handle.test.ts");
const acknowledgements = testsOf("src/delegating/acknowledgements.test.ts");
const serving = testsOf("src/serving/serving.test.ts");
const link = testsOf("src/link/link.test.ts");
const receiptChecks = testsOf("src/link/receipt-checks.test.ts");
const connect = testsOf("src/connect/shared-receipts.test.ts");
const peers = testsOf("src/link/peers.test.ts");
const retry = testsOf("src/connect/retry.test.ts");
const hubIdentity = testsOf("src/connect/hub-identity.test.ts");

const DELEGATING: readonly Mutant[] = [
  {
    name: "a refused acknowledgement counts as taken",
    file: "src/delegating/acknowledgements.ts",
    find: "else reject(refusal(handoff, status));",
    replace: "else resolve(void refusal(handoff, status));",
    seenBy: acknowledgements("a refusal of one handoff of a list reaches that handoff only"),
  },
  {
    name: "the handoffs of a refused list stay unacknowledged",
    file: "src/delegating/acknowledgements.ts",
    find: "for (const each of list) this.#sendAlone(each);",
    replace: "for (const each of list) each.resolve();",
    seenBy: acknowledgements("each is acknowledged alone if the hub refuses the list"),
  },
  {
    name: "a list may be longer than the protocol allows",
    file: "src/delegating/acknowledgements.ts",
    find: "const most = LIMITS.alsoListed + 1;",
    replace: "const most = 10 * LIMITS.alsoListed;",
    seenBy: acknowledgements("one envelope names at most 65 handoffs"),
  },
  {
    name: "a third party's result is accepted",
    file: "src/delegating/check-reply.ts",
    find: 'const isRecipient = typeof to !== "string" || envelope.from === to;',
    replace: "const isRecipient = true;\n    void to;",
    seenBy: handle("a result by a third party does not settle a handoff"),
  },
  {
    name: "a result of another handoff is accepted",
    file: "src/delegating/check-reply.ts",
    find: "const isAbout = envelope.handoff_id === handle.id;",
    replace: "const isAbout = true;",
    seenBy: handle("a result about another handoff does not settle a handoff"),
  },
  {
    name: "a result for another text under the same id is accepted",
    file: "src/delegating/check-reply.ts",
    find: '"re" in envelope && envelope.re === handle.digest && isForUs',
    replace: '"re" in envelope && isForUs',
    seenBy: handle("a result about another text does not settle a handoff"),
  },
  {
    name: "a result addressed to another agent is accepted",
    file: "src/delegating/check-reply.ts",
    find: "const isForUs = envelope.to === self;",
    replace: "const isForUs = true;",
    seenBy: handle("a result for somebody else does not settle a handoff"),
  },
  {
    name: "a result of another job is accepted",
    file: "src/delegating/check-reply.ts",
    find: "const isOfJob = envelope.correlation_id === handle.envelope.correlation_id;",
    replace: "const isOfJob = true;",
    seenBy: handle("a result of another job does not settle a handoff"),
  },
  {
    name: "anybody's notice ends a handoff",
    file: "src/delegating/check-reply.ts",
    find: 'envelope.kind === "notice" && envelope.from === hub && isForUs',
    replace: 'envelope.kind === "notice" && hub !== "" && isForUs',
    seenBy: handle("a notice by anybody but the hub does not end a handoff"),
  },
  {
    name: "deliveries are not checked",
    file: "src/delegating/handle.ts",
    find: "    checkReply(verified.envelope, this, { self, hub: hub.id });\n",
    replace: "    void [checkReply, self, hub];\n",
    seenBy: handle("a result by a third party does not settle a handoff"),
  },
];

const SERVING: readonly Mutant[] = [
  {
    name: "a stopping agent accepts new work",
    file: "src/serving/serving.ts",
    find: "    if (this.#isStopping && !isKnown) return;\n",
    replace: "",
    seenBy: serving("an agent that stops takes no work that was on its way to it: finish"),
  },
  {
    name: "an agent that releases its work accepts new work",
    file: "src/serving/serving.ts",
    find: `  release(reason: string): void {
    this.#isStopping = true;`,
    replace: "  release(reason: string): void {",
    seenBy: serving("an agent that stops takes no work that was on its way to it: release"),
  },
  {
    name: "a stopping agent keeps requesting work",
    file: "src/agent.ts",
    find: "    link.setCredit(0);\n",
    replace: "",
    seenBy: serving("an agent that stops has no room for more"),
  },
  {
    name: "an attempt that has ended runs again",
    file: "src/serving/serving.ts",
    find: "      this.#finished.set(name, true);\n",
    replace: "",
    seenBy: serving("an offer that comes twice is worked on once, also after its end"),
  },
];

const LINK: readonly Mutant[] = [
  {
    name: "an attachment that is answered too late stays open",
    file: "src/link/link.ts",
    find: "(late) => (isGivenUp ? late.close() : undefined)",
    replace: "() => undefined",
    seenBy: link("an attachment that the hub answers after it was given up is closed again"),
  },
  {
    name: "a receipt for another envelope counts as custody",
    file: "src/link/link.ts",
    find: 'envelope.kind === "receipt" && isConfirmed(digest, envelope)',
    replace: 'envelope.kind === "receipt" && isConfirmed(envelope.re, envelope)',
    seenBy: link("a hub's receipt for something else is not taken for custody"),
  },
  {
    name: "a receipt for several confirms its first envelope only",
    file: "src/link/link.ts",
    find: "re === digest || also.some((each) => each.re === digest)",
    replace: "re === digest && also !== undefined",
    seenBy: link("a receipt for several counts as the custody of each of them"),
  },
  {
    name: "a receipt is verified again for each envelope that it names",
    file: "src/link/receipt-checks.ts",
    find: "if (last?.text === text && now < last.until) return last.verified;",
    replace: "if (last?.text === text && now > last.until) return last.verified;",
    seenBy: receiptChecks("a receipt that answers several envelopes in a row is verified once"),
  },
  {
    name: "a receipt that could not be verified is never verified again",
    file: "src/link/receipt-checks.ts",
    find: "if (this.#last === check) this.#last = undefined;",
    replace: "void check;",
    seenBy: receiptChecks("a receipt that could not be verified is verified at the next try"),
  },
  {
    name: "a reply answers the first of several calls only",
    file: "src/connect/calls.ts",
    find: "for (const number of numbers) this.#remove(number)?.resolve(value);",
    replace: "this.#remove(numbers[0]!)?.resolve(value);",
    seenBy: connect("submissions of one turn are answered by one receipt"),
  },
  {
    name: "a receipt from anybody counts as custody",
    file: "src/link/link.ts",
    find: "if (isOurs && envelope.from === this.#options.hub.id) return receipt;",
    replace: "if (isOurs) return receipt;",
    seenBy: link("a receipt by anybody but the hub is not taken for custody"),
  },
  {
    name: "keys in a listing of another agent's manifests are trusted",
    file: "src/link/peers.ts",
    find: "      if (verified.manifest.agent_id !== agent) return;\n",
    replace: "",
    seenBy: peers("a key that the hub shows among another agent's manifests is nobody's"),
  },
];

const CONNECT: readonly Mutant[] = [
  {
    name: "a retryable 301 is not retried",
    file: "src/connect/retry.ts",
    find: " || WaybillError.is(error, 301)",
    replace: "",
    seenBy: retry("a hub that is asked too often is asked again"),
  },
  {
    name: "a 503 is not retried",
    file: "src/connect/retry.ts",
    find: "WaybillError.is(error, 503) || ",
    replace: "",
    seenBy: retry("a hub that can't now is asked again"),
  },
  {
    name: "a refusal is retried",
    file: "src/connect/retry.ts",
    find: "if (!isTemporary(error)) return false;",
    replace: "if (!isTemporary(error) && last !== undefined) return false;",
    seenBy: retry("a hub that answers 403 is not asked again"),
  },
  {
    name: "a try continues after the time limit",
    file: "src/connect/retry.ts",
    find: "AbortSignal.any([signal, AbortSignal.timeout(withinMs)])",
    replace: "AbortSignal.any([signal])",
    seenBy: retry("a try has until the time is over, and its signal then ends it"),
  },
  {
    name: "the hub id on the socket is not checked",
    file: "src/connect/remote-hub.ts",
    find: "if (hub === this.id && domain === this.domain) return;",
    replace: 'if (hub !== "" && domain === this.domain) return;',
    seenBy: hubIdentity("an agent signs no hello for a socket whose challenge names another hub"),
  },
  {
    name: "the custody domain on the socket is not checked",
    file: "src/connect/remote-hub.ts",
    find: "if (hub === this.id && domain === this.domain) return;",
    replace: 'if (hub === this.id && domain !== "") return;',
    seenBy: hubIdentity(
      "an agent signs no hello for a socket whose challenge names another domain",
    ),
  },
];

/** Faults in the SDK. */
export const AGENT: readonly Mutant[] = [...DELEGATING, ...SERVING, ...LINK, ...CONNECT];
