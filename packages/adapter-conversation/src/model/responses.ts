import { usageRowOf } from "@waybill/agent/adapter";
import type { UsageRow } from "@waybill/protocol";
import type { Response, ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import { brokenOff, failedResponse } from "./failure.ts";
import { FORM_NAME } from "./said.ts";
import type { ModelRequest, Said } from "./said.ts";
import { responseItemsOf } from "./to-responses.ts";

/** Calls a model by the responses API. */
export async function askResponses(asked: ModelRequest): Promise<Said> {
  const { model, name, instructions, messages, tools, form, request } = asked;
  const body = {
    model,
    input: messages.flatMap((message) => responseItemsOf(message, name)),
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools: tools.map(functionOf) }),
    ...(form === undefined
      ? {}
      : {
          text: { format: { type: "json_schema", name: FORM_NAME, schema: form, strict: false } },
        }),
    ...request,
    stream: true,
  } as ResponseCreateParamsStreaming;
  const response = await heard(asked, body);
  const { output, incomplete_details: incomplete } = response;
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return {
    text: parts.flatMap((part) => (part.type === "output_text" ? [part.text] : [])).join(""),
    calls: output.flatMap((item) =>
      item.type === "function_call"
        ? [{ id: item.call_id, name: item.name, arguments: item.arguments }]
        : [],
    ),
    refusal: parts.find((part) => part.type === "refusal")?.refusal,
    usage: usageOf(response),
    cutBy: incomplete?.reason,
  };
}

function usageOf({ model, usage }: Response): UsageRow | undefined {
  return usageRowOf({
    model,
    requests: 1,
    input_tokens: usage?.input_tokens,
    cached_input_tokens: usage?.input_tokens_details?.cached_tokens,
    output_tokens: usage?.output_tokens,
    reasoning_tokens: usage?.output_tokens_details?.reasoning_tokens,
  });
}

/** The final response of the stream. */
async function heard(
  { client, headers, signal, onDelta }: ModelRequest,
  body: ResponseCreateParamsStreaming,
): Promise<Response> {
  for await (const event of await client.responses.create(body, { signal, headers })) {
    if (event.type === "response.output_text.delta") onDelta(event.delta);
    if (event.type === "response.completed" || event.type === "response.incomplete")
      return event.response;
    if (event.type === "response.failed") throw failedResponse(event.response.error);
  }
  throw brokenOff();
}

function functionOf({ name, description, parameters }: ModelRequest["tools"][number]) {
  return { type: "function", name, description, parameters, strict: false };
}
