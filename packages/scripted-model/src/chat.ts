import type { Exchange } from "./exchange.ts";
import { argumentsOf, piecesOf } from "./turn.ts";
import type { ModelRequest, SaidCall, Turn, TurnUsage } from "./turn.ts";

/** A turn in the format of the chat completions API. */
export async function answerChat(
  turn: Turn,
  { body, index, signal }: ModelRequest,
  exchange: Exchange,
): Promise<void> {
  const head = {
    id: `chatcmpl-${index}`,
    created: Math.floor(Date.now() / 1000),
    model: body.model,
    service_tier: "default",
    system_fingerprint: "fp_scripted",
  };
  const { refusal = null } = turn;
  if (body.stream !== true) {
    let text = "";
    for await (const piece of piecesOf(turn)) text += piece;
    const calls = await callsOf(turn, index);
    const isSilent = refusal !== null || (text === "" && calls.length > 0);
    exchange.json(200, {
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: isSilent ? null : text,
            refusal,
            annotations: [],
            ...(calls.length > 0 ? { tool_calls: calls } : {}),
          },
          logprobs: null,
          finish_reason: turn.cutBy ?? (calls.length > 0 ? "tool_calls" : "stop"),
        },
      ],
      usage: usageOf(turn, body, text),
    });
    return;
  }

  const hasUsage = body.stream_options?.include_usage === true;
  const send = (delta: object, finish: string | null = null): void =>
    exchange.event({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(hasUsage ? { usage: null } : {}),
    });
  send({ role: "assistant", content: refusal === null ? "" : null, refusal: null });
  let said = "";
  for await (const piece of piecesOf(turn)) {
    if (signal.aborted) return;
    said += piece;
    send({ content: piece });
  }
  if (refusal !== null) send({ refusal });
  const calls = await callsOf(turn, index);
  calls.forEach(({ function: { name, arguments: given }, ...call }, at) => {
    send({ tool_calls: [{ index: at, ...call, function: { name, arguments: "" } }] });
    for (const piece of halvesOf(given))
      send({ tool_calls: [{ index: at, function: { arguments: piece } }] });
  });
  send({}, turn.cutBy ?? (calls.length > 0 ? "tool_calls" : "stop"));
  if (hasUsage) {
    const usage = usageOf(turn, body, said);
    exchange.event({ ...head, object: "chat.completion.chunk", choices: [], usage });
  }
  exchange.end("data: [DONE]\n\n");
}

async function callsOf({ calls = [] }: Turn, index: number) {
  return (await calls).map((call: SaidCall, at) => ({
    id: call.id ?? `call_${index}_${at}`,
    type: "function" as const,
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
}

/** Arguments are streamed in pieces too, and no piece is valid JSON. */
export function halvesOf(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

function usageOf(turn: Turn, body: unknown, said: string) {
  const used = usedBy(turn, body, said);
  const { input_tokens: prompt, output_tokens: completion } = used;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: used.cached_input_tokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: used.reasoning_tokens ?? 0, audio_tokens: 0 },
  };
}

/** The usage of a turn: as given, or estimated from its texts. */
export function usedBy({ usage }: Turn, body: unknown, said: string): TurnUsage {
  return usage ?? { input_tokens: tokensIn(JSON.stringify(body)), output_tokens: tokensIn(said) };
}

/** An estimate is enough, because nobody is billed. */
function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}
