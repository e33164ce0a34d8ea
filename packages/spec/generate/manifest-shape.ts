import * as z from "zod";
import { AGENT_ID, MANIFEST_LIMITS } from "./internals.ts";

const time = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/);

/** The members of a manifest around its capabilities, as the reader of manifests checks them. */
export function manifestSchema(capability: z.ZodType): z.ZodType {
  const address = z
    .string()
    .max(MANIFEST_LIMITS.urlLength)
    .regex(/^https?:\/\/[!-~]+$/);
  return z.object({
    waybill: z.literal(1).optional(),
    kind: z.literal("manifest").optional(),
    agent_id: z.string().regex(AGENT_ID),
    version: z.string().min(1).max(MANIFEST_LIMITS.labelLength).optional(),
    description: z.string().max(MANIFEST_LIMITS.descriptionLength).optional(),
    capabilities: z.array(capability).max(MANIFEST_LIMITS.capabilities),
    discovery_endpoint: address.optional(),
    inbox: address.optional(),
    keys: z
      .array(
        z.looseObject({
          kty: z.literal("OKP"),
          crv: z.literal("Ed25519"),
          x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
          kid: z.string().optional(),
          use: z.enum(["sig", "recovery"]).optional(),
          not_before: time.optional(),
          not_after: time.optional(),
          retired_at: time.optional(),
          proof: z.string().optional(),
        }),
      )
      .max(MANIFEST_LIMITS.keys)
      .optional(),
    sequence: z.int().min(1).optional(),
    previous: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .optional(),
    recovery: z
      .string()
      .regex(/^[A-Za-z0-9_-]{86}$/)
      .optional(),
  });
}
