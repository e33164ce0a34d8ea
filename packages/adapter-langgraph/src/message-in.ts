import {
  base64Of,
  mediaIn,
  mediaOf,
  speakerName,
  toolCallsOf,
  toolResultsOf,
  wordsOf,
} from "@waybill/agent/adapter";
import type { Media } from "@waybill/agent/adapter";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseMessage, ContentBlock } from "@langchain/core/messages";
import type { ContentPart, Message } from "@waybill/protocol";

/** Where LangChain passes data along without reading it. */
export const ORIGINAL = "waybill";

/**
 * A message in LangChain's form. Its id makes it the same message whenever the run is repeated, and
 * distinguishes given messages from added ones. The original goes along for the way back: parts and
 * members that LangChain does not support stay as they are.
 */
export function toLangChain(message: Message, id?: string): BaseMessage[] {
  const results = toolResultsOf(message);
  if (message.role !== "tool" || results.length < 2) return [converted(message, id)];
  return results.map((result, index) =>
    converted(
      { ...message, content: message.content.filter((part) => part["id"] === result.id) },
      id === undefined ? undefined : `${id}.${index}`,
    ),
  );
}

function converted(message: Message, id: string | undefined): BaseMessage {
  const fields = {
    content: message.content.flatMap(wordsIn).join("\n"),
    additional_kwargs: { [ORIGINAL]: message },
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(id === undefined ? {} : { id }),
  };
  switch (message.role) {
    case "system":
    case "developer":
      return new SystemMessage(fields);
    case "user": {
      const { content: _, ...others } = fields;
      const contentBlocks = blocksOf(message);
      return new HumanMessage(contentBlocks === undefined ? fields : { ...others, contentBlocks });
    }
    case "tool": {
      const [result] = toolResultsOf(message);
      const content = result === undefined ? fields.content : wordsOf(result.output);
      return new ToolMessage({ ...fields, content, tool_call_id: result?.id ?? "" });
    }
    case "assistant": {
      const { content: _, ...others } = fields;
      const contentBlocks = blocksOf(message);
      return new AIMessage({
        ...(contentBlocks === undefined ? fields : { ...others, contentBlocks }),
        tool_calls: toolCallsOf(message).map((call) => ({
          type: "tool_call",
          id: call.id,
          name: call.name,
          args: (call.arguments ?? {}) as Record<string, unknown>,
        })),
      });
    }
  }
}

/** What a model is told of a part. Parts of unknown types are for the code of a node, which has them. */
function wordsIn({ type, text, data }: ContentPart): string[] {
  if (text !== undefined) return [text];
  return type === "data" && data !== undefined ? [JSON.stringify(data)] : [];
}

type Block = ContentBlock.Standard;

/**
 * LangChain's standard blocks, if a message is more than text. Its client for OpenAI drops the name of
 * such a message, so a user's name is put into the text.
 */
function blocksOf(message: Message): Block[] | undefined {
  if (mediaIn(message).length === 0) return undefined;
  const { role, name, content } = message;
  const speaker: ContentPart[] =
    role === "user" && name !== undefined ? [{ type: "text", text: `${speakerName(name)}:` }] : [];
  return [...speaker, ...content].flatMap((part): Block[] => {
    const media = mediaOf(part);
    if (media !== undefined) return [blockOf(media)];
    return wordsIn(part).map((text) => ({ type: "text", text }));
  });
}

function blockOf(media: Media): Block {
  const { type, media_type: mimeType, name, url } = media;
  const metadata = name === undefined ? {} : { metadata: { filename: name } };
  const source = url === undefined ? { data: base64Of(media)! } : { url };
  // Each of the three types has these members, but TypeScript does not distribute the union over them.
  return { type, mimeType, ...source, ...metadata } as Block;
}
