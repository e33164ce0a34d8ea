/// <reference types="node" />
import * as crypto from "node:crypto";
import { createRequire } from "node:module";
import {
  createHandoff,
  generateKey,
  signCompact,
  signEnvelope,
  signEnvelopes,
  verifyEnvelope,
} from "@waybill/protocol";
import { signCompactBatch } from "@waybill/protocol/hub";
import type { Case, Group } from "../group.ts";
import { handoffInputs, ENVELOPE_BYTES, POOL, trusting } from "./envelopes.ts";
import { importCase } from "./import.ts";
import { lifecycleCase } from "./lifecycle.ts";

const BATCH = 64;

/** Every speed target of the protocol package, with what it is compared to. */
export function protocol(): Group {
  const key = generateKey();
  const trust = trusting(key);
  const inputs = handoffInputs(key);
  const envelopes = inputs.map((input) => createHandoff(input));
  const texts = envelopes.map((envelope) => signEnvelope(envelope, key));
  const payloads = envelopes.map((envelope) => JSON.stringify(envelope));

  const verifyInBatches: Case = {
    name: "verify in batches",
    opsPerRun: BATCH,
    isComputing: true,
    run(operations, clock) {
      let ms = 0;
      for (let done = 0; done < operations; done += BATCH) {
        // New ids make a new root: a verified one would be cached.
        const fresh = inputs.slice(0, BATCH).map((input) => createHandoff(input));
        const received = signEnvelopes(fresh, key).map(({ text }) => asReceived(text));
        const start = clock();
        for (const text of received) verifyEnvelope(text, trust);
        ms += clock() - start;
      }
      return ms;
    },
  };

  return {
    cases: [
      ...rawCases(),
      inTurn("make and sign", inputs, (input) => signEnvelope(createHandoff(input), key) !== ""),
      inBatches("make and sign in batches", inputs, (batch) =>
        signEnvelopes(
          batch.map((input) => createHandoff(input)),
          key,
        ),
      ),
      inTurn("sign", payloads, (payload) => signCompact(payload, key) !== ""),
      inBatches("sign in batches", payloads, (batch) => signCompactBatch(batch, key)),
      inTurn("verify", texts, (text) => verifyEnvelope(text, trust).envelope.kind === "handoff"),
      verifyInBatches,
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
        name: "sodium_sign_gain",
        compares: "rate",
        of: "raw sodium-native sign",
        to: "raw crypto.sign",
        meaning: "bare signatures in a second by sodium-native, by those of node:crypto",
      },
      {
        name: "sodium_verify_gain",
        compares: "rate",
        of: "raw sodium-native verify",
        to: "raw crypto.verify",
        meaning: "the same for bare checks of signatures",
      },
      {
        name: "batch_sign_gain",
        compares: "rate",
        of: "sign in batches",
        to: "sign",
        meaning: "envelopes signed in a second, in batches of 64 by one at a time",
        wanted: ">= 8",
      },
      {
        name: "batch_make_gain",
        compares: "rate",
        of: "make and sign in batches",
        to: "make and sign",
        meaning: "the same with making, checking and writing them, which no batch saves",
      },
      {
        name: "batch_verify_gain",
        compares: "rate",
        of: "verify in batches",
        to: "verify",
        meaning: "envelopes verified in a second, in batches of 64 by one at a time",
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
}

function rawCases(): Case[] {
  const { privateKey, publicKey } = crypto.generateKeyPairSync("ed25519");
  const messages = Array.from({ length: POOL }, () => crypto.randomBytes(ENVELOPE_BYTES));
  const signed = messages.map((message) => ({
    message,
    signature: crypto.sign(null, message, privateKey),
  }));
  return [
    inTurn("raw crypto.sign", messages, (message) => {
      return crypto.sign(null, message, privateKey).length === 64;
    }),
    inTurn("raw crypto.verify", signed, ({ message, signature }) => {
      return crypto.verify(null, message, publicKey, signature);
    }),
    ...sodiumCases(),
  ];
}

const require = createRequire(import.meta.url);

/** What is used here of a package without types. */
interface Sodium {
  crypto_sign_keypair(publicKey: Buffer, secretKey: Buffer): void;
  crypto_sign_detached(signature: Buffer, message: Buffer, secretKey: Buffer): void;
  crypto_sign_verify_detached(signature: Buffer, message: Buffer, publicKey: Buffer): boolean;
}

/** The package that an application may install to sign faster. Envelopes here are signed without it. */
function sodiumCases(): Case[] {
  const sodium = require("sodium-native-tested") as Sodium;
  const [publicKey, secretKey, made] = [Buffer.alloc(32), Buffer.alloc(64), Buffer.alloc(64)];
  sodium.crypto_sign_keypair(publicKey, secretKey);
  const signed = Array.from({ length: POOL }, () => {
    const [message, signature] = [crypto.randomBytes(ENVELOPE_BYTES), Buffer.alloc(64)];
    sodium.crypto_sign_detached(signature, message, secretKey);
    return { message, signature };
  });
  return [
    inTurn("raw sodium-native sign", signed, ({ message }) => {
      sodium.crypto_sign_detached(made, message, secretKey);
      return made.length === 64;
    }),
    inTurn("raw sodium-native verify", signed, ({ message, signature }) => {
      return sodium.crypto_sign_verify_detached(signature, message, publicKey);
    }),
  ];
}

/** Takes the items of a pool one after the other; an operation that returns false ends the run. */
function inTurn<Item>(
  name: string,
  pool: readonly Item[],
  operation: (item: Item) => boolean,
): Case {
  let next = 0;
  return {
    name,
    isComputing: true,
    run(operations) {
      for (let done = 0; done < operations; done++) {
        if (!operation(pool[next++ % pool.length]!)) throw new Error("the operation was refused");
      }
    },
  };
}

/** Takes a pool batch by batch. */
function inBatches<Item>(
  name: string,
  pool: readonly Item[],
  operation: (batch: readonly Item[]) => readonly unknown[],
): Case {
  const batches = Array.from({ length: pool.length / BATCH }, (_, index) =>
    pool.slice(index * BATCH, (index + 1) * BATCH),
  );
  let next = 0;
  return {
    name,
    opsPerRun: BATCH,
    isComputing: true,
    run(operations) {
      for (let done = 0; done < operations; done += BATCH) {
        operation(batches[next++ % batches.length]!);
      }
    },
  };
}

/** A string that was concatenated becomes flat, as it is when received. */
function asReceived(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
