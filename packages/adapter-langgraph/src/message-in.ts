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

/** Where LangChain carries along what it does not look at. */
export const ORIGINAL = "waybill";

/**
 * A message as LangChain has it. Its id makes it the same message whenever the run is started anew,
 * and tells what a run was given from what it has added. The message itself goes along, for the way
 * back: parts and members that LangChain has no place for stay as they are.
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
 * The standard blocks of LangChain, where a message is more than words. Its client for OpenAI leaves out
 * the name of such a message, so a user's name is in the words.
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
  // Each of the three types has these members, and TypeScript distributes no union over them.
  return { type, mimeType, ...source, ...metadata } as Block;
}
