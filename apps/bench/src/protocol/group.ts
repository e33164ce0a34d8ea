/// <reference types="node" />
import * as crypto from "node:crypto";
import {
  createHandoff,
  generateKey,
  signEnvelope,
  signEnvelopes,
  verifyEnvelope,
} from "@waybill/protocol";
import type { Case, Group } from "../group.ts";
import { handoffInputs, PAYLOAD_BYTES, POOL, trusting } from "./envelopes.ts";
import { importCase } from "./import.ts";
import { lifecycleCase } from "./lifecycle.ts";

const BATCH = 64;

/** Every target of the protocol package for speed, beside what it is measured against. */
export function protocol(): Group {
  const key = generateKey();
  const trust = trusting(key);
  const inputs = handoffInputs();
  const envelopes = inputs.map((input) => createHandoff(input));
  const texts = envelopes.map((envelope) => signEnvelope(envelope, key));

  return {
    cases: [
      ...rawCases(),
      {
        name: "make and sign",
        isComputing: true,
        run: inTurn(inputs, (input) => signEnvelope(createHandoff(input), key).length > 0),
      },
      {
        name: "sign",
        run: inTurn(envelopes, (envelope) => signEnvelope(envelope, key).length > 0),
      },
      {
        name: "verify",
        run: inTurn(texts, (text) => verifyEnvelope(text, trust).envelope.kind === "handoff"),
      },
      {
        name: `sign in batches of ${BATCH}`,
        opsPerRun: BATCH,
        run(operations) {
          for (let done = 0; done < operations; done += BATCH) {
            const start = done % POOL;
            signEnvelopes(envelopes.slice(start, start + BATCH), key);
          }
        },
      },
      {
        name: `verify in batches of ${BATCH}`,
        opsPerRun: BATCH,
        run: (operations) => verifyFreshBatches(operations / BATCH),
      },
      lifecycleCase("lifecycle step"),
      importCase("import zod", "zod"),
      importCase("import @waybill/protocol", "@waybill/protocol"),
    ],
    ratios: [
      {
        name: "sign_over_raw",
        compares: "time",
        of: "make and sign",
        to: "raw crypto.sign",
        meaning: "time of making and signing an envelope, by that of a bare signature",
        wanted: "<= 1.3",
      },
      {
        name: "verify_over_raw",
        compares: "time",
        of: "verify",
        to: "raw crypto.verify",
        meaning: "time of verifying, parsing and validating one, by that of a bare check",
        wanted: "<= 1.2",
      },
      {
        name: "batch_sign_gain",
        compares: "rate",
        of: `sign in batches of ${BATCH}`,
        to: "sign",
        meaning: "envelopes signed in a second, in batches by one at a time",
        wanted: ">= 8",
      },
      {
        name: "batch_verify_gain",
        compares: "rate",
        of: `verify in batches of ${BATCH}`,
        to: "verify",
        meaning: "envelopes verified in a second, in batches by one at a time",
        wanted: ">= 5",
      },
      {
        name: "lifecycle_million_steps_per_second",
        compares: "rate",
        of: "lifecycle step",
        to: 1_000_000,
        meaning: "millions of steps in a second",
        wanted: ">= 1",
      },
      {
        name: "import_over_zod",
        compares: "time",
        of: "import @waybill/protocol",
        to: "import zod",
        meaning: "time of the import, by that of zod alone",
        wanted: "<= 1.3",
      },
    ],
  };

  function verifyFreshBatches(batches: number): number {
    let ms = 0;
    for (let batch = 0; batch < batches; batch++) {
      // New ids make a new root: one that was verified before would be remembered.
      const fresh = inputs.slice(0, BATCH).map((input) => createHandoff(input));
      const received = signEnvelopes(fresh, key).map(asReceived);
      const start = performance.now();
      for (const text of received) verifyEnvelope(text, trust);
      ms += performance.now() - start;
    }
    return ms;
  }
}

function rawCases(): Case[] {
  const { privateKey, publicKey } = crypto.generateKeyPairSync("ed25519");
  const messages = Array.from({ length: POOL }, () => crypto.randomBytes(PAYLOAD_BYTES));
  const signed = messages.map((message) => ({
    message,
    signature: crypto.sign(null, message, privateKey),
  }));
  return [
    {
      name: "raw crypto.sign",
      run: inTurn(messages, (message) => crypto.sign(null, message, privateKey).length === 64),
    },
    {
      name: "raw crypto.verify",
      run: inTurn(signed, ({ message, signature }) =>
        crypto.verify(null, message, publicKey, signature),
      ),
    },
  ];
}

/** Takes the items of a pool one after the other; an operation that gives false ends the run. */
function inTurn<Item>(pool: readonly Item[], operation: (item: Item) => boolean) {
  let next = 0;
  return (operations: number): void => {
    for (let done = 0; done < operations; done++) {
      if (!operation(pool[next++ % pool.length]!)) throw new Error("the operation was refused");
    }
  };
}

/** A text that was put together from pieces is flat when it comes off the wire. */
function asReceived(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
