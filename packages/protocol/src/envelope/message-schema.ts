import * as z from "zod";
import { BASE64URL } from "./base64url.ts";
import { lazy } from "../lazy.ts";
import type { ContentPart, Message } from "./body.ts";

/** The types of parts that carry bytes instead of words. */
export const MEDIA_TYPES = ["image", "audio", "file"] as const;

export interface MessageSchemas {
  /** The members of a part with media, besides its type. */
  readonly media: z.ZodType<object>;
  readonly part: z.ZodType<ContentPart>;
  readonly messages: z.ZodType<Message[]>;
}

/** The messages of handoffs and results. Parts of unknown types may hold anything. */
export const messageSchemas: () => MessageSchemas = lazy(() => {
  const label = z.string().min(1).max(256);
  const media = z
    .looseObject({
      media_type: label,
      name: label.optional(),
      data: z.string().regex(BASE64URL, "must be unpadded base64url").optional(),
      url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
    })
    .refine(({ data, url }) => (data === undefined) !== (url === undefined), {
      error: "an image, a recording or a file must have either data or url",
    });
  const isMedia: ReadonlySet<string> = new Set(MEDIA_TYPES);
  const part = z
    .looseObject({ type: label, text: z.string().optional() })
    .superRefine((given, context) => {
      if (!isMedia.has(given.type)) return;
      for (const { path, message } of media.safeParse(given).error?.issues ?? [])
        context.addIssue({ code: "custom", path, message });
    });
  const messages = z.array(
    z.looseObject({
      role: z.enum(["system", "developer", "user", "assistant", "tool"]),
      name: label.optional(),
      content: z.array(part),
    }),
  );
  return { media, part, messages };
});
