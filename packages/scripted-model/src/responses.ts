import { halvesOf, usedBy } from "./chat.ts";
import type { Exchange } from "./exchange.ts";
import { argumentsOf, piecesOf } from "./turn.ts";
import type { ModelRequest, SaidCall, Turn } from "./turn.ts";

/** A turn in the format of the responses API. */
export async function answerResponses(
  turn: Turn,
  { body, index, signal }: ModelRequest,
  exchange: Exchange,
): Promise<void> {
  const answer = answerOf(body, index);
  let number = 0;
  const isStreamed = body.stream === true;
  const send = (type: string, members: object): void => {
    if (isStreamed) exchange.event({ type, ...members, sequence_number: number++ }, type);
  };
  send("response.created", { response: answer() });
  send("response.in_progress", { response: answer() });

  const output: object[] = [];
  // A turn with only calls has no message; an empty turn has an empty one.
  const speaks = turn.text !== undefined || turn.refusal !== undefined || turn.calls === undefined;
  const message = speaks ? await speak(turn, index, signal, send) : undefined;
  if (message !== undefined) output.push(message.item);
  const calls = await (turn.calls ?? []);
  if (signal.aborted) return;
  for (const [at, call] of calls.entries()) {
    const item = callItem(call, index, at);
    const where = { item_id: item.id, output_index: output.length };
    const begun = { ...item, status: "in_progress", arguments: "" };
    send("response.output_item.added", { output_index: output.length, item: begun });
    for (const delta of halvesOf(item.arguments))
      send("response.function_call_arguments.delta", { ...where, delta });
    const { arguments: given, name } = item;
    send("response.function_call_arguments.done", { ...where, name, arguments: given });
    send("response.output_item.done", { output_index: output.length, item });
    output.push(item);
  }

  const usage = usageOf(turn, body, message?.said ?? "");
  const status = turn.cutBy === undefined ? "completed" : "incomplete";
  const reason = { length: "max_output_tokens", content_filter: "content_filter" } as const;
  const incomplete = turn.cutBy === undefined ? null : { reason: reason[turn.cutBy] };
  const response = answer({ status, output, usage, incomplete_details: incomplete });
  if (!isStreamed) return exchange.json(200, response);
  send(`response.${status}`, { response });
  exchange.end();
}

type Send = (type: string, members: object) => void;

/** Streams a message as its text arrives. */
async function speak(turn: Turn, index: number, signal: AbortSignal, send: Send) {
  const { refusal } = turn;
  const id = `msg_${index}`;
  const message = { id, type: "message", role: "assistant" };
  const at = { item_id: id, output_index: 0, content_index: 0 };
  const partOf = (text: string) =>
    refusal === undefined
      ? { type: "output_text", text, annotations: [], logprobs: [] }
      : { type: "refusal", refusal: text };
  const item = { ...message, status: "in_progress", content: [] };
  send("response.output_item.added", { output_index: 0, item });
  send("response.content_part.added", { ...at, part: partOf("") });
  let said = "";
  for await (const delta of piecesOf({ text: refusal ?? turn.text })) {
    if (signal.aborted) break;
    said += delta;
    if (refusal === undefined) send("response.output_text.delta", { ...at, delta, logprobs: [] });
    else send("response.refusal.delta", { ...at, delta });
  }
  if (refusal === undefined) send("response.output_text.done", { ...at, text: said, logprobs: [] });
  else send("response.refusal.done", { ...at, refusal: said });
  const part = partOf(said);
  const done = { ...message, status: "completed", content: [part] };
  send("response.content_part.done", { ...at, part });
  send("response.output_item.done", { output_index: 0, item: done });
  return { said, item: done };
}

function callItem(call: SaidCall, index: number, at: number) {
  return {
    id: `fc_${index}_${at}`,
    type: "function_call",
    status: "completed",
    call_id: call.id ?? `call_${index}_${at}`,
    name: call.name,
    arguments: argumentsOf(call),
  };
}

function answerOf(body: { model: string; instructions?: string; tools?: unknown }, index: number) {
  const created = Math.floor(Date.now() / 1000);
  return (members: object = {}) => ({
    id: `resp_${index}`,
    object: "response",
    created_at: created,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    model: body.model,
    output: [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: body.tools ?? [],
    top_p: 1,
    usage: null,
    metadata: {},
    ...members,
  });
}

function usageOf(turn: Turn, body: unknown, said: string) {
  const used = usedBy(turn, body, said);
  const { input_tokens: input, output_tokens: output } = used;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: used.cached_input_tokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: used.reasoning_tokens ?? 0 },
    total_tokens: input + output,
  };
}
