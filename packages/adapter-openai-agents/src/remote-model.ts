import type {
  AgentInputItem,
  AssistantMessageItem,
  Model,
  ModelRequest,
  ModelResponse,
  StreamEvent,
} from "@openai/agents";
import {
  mediaInWords,
  saidSince,
  ShownText,
  wordsOfResult,
  workFrom,
} from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { DeltaEvent, HandoffResult, ProgressEvent } from "@waybill/agent";
import { parseJson } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { artifactsIn, messagesOf } from "./from-items.ts";
import { filesBehind, rememberFiles } from "./originals.ts";
import { handedOff, inputFrom } from "./remote.ts";
import type { Remote } from "./remote.ts";
import { spokenBy } from "./speaker.ts";
import { assistantItem } from "./to-items.ts";
import { sdkUsage } from "./usage.ts";

/** A remote agent as a model: the request is handed off, and the result is the model's answer. */
export class RemoteModel implements Model {
  readonly #remote: Remote;
  /** Its name in the SDK. */
  readonly #name: string;
  /** The name of the tool that transfers to it. */
  readonly #transfer: string;

  constructor(remote: Remote, name: string, transfer: string) {
    this.#remote = remote;
    this.#name = name;
    this.#transfer = transfer;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const result = await this.#ask(request, () => undefined);
    return { usage: sdkUsage(result.usage), output: this.#answerOf(result, request) };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    yield { type: "response_started" };
    const heard: (ProgressEvent | DeltaEvent)[] = [];
    const shown = new ShownText();
    let change = Promise.withResolvers<void>();
    let isOver = false;
    const result = this.#ask(request, (event) => {
      heard.push(event);
      change.resolve();
    });
    const over = () => {
      isOver = true;
      change.resolve();
    };
    result.then(over, over);
    for (;;) {
      while (heard.length > 0) {
        const event = heard.shift()!;
        if ("text" in event) {
          yield { type: "output_text_delta", delta: shown.add(event) };
          continue;
        }
        const { message, fraction, data } = event;
        const progress = { message, fraction, data };
        yield { type: "model", event: { type: "waybill.progress", progress } };
      }
      if (isOver) break;
      await change.promise;
      change = Promise.withResolvers();
    }
    const output = this.#answerOf(await result, request);
    const rest = shown.restOf(wordsOfResult(await result));
    if (rest !== "") yield { type: "output_text_delta", delta: rest };
    const usage = sdkUsage((await result).usage);
    yield {
      type: "response_done",
      response: { id: `handoff_${(await result).digest}`, output, usage },
    };
  }

  /** The last item is the final output of a run, so the names of files come before the text. */
  #answerOf(result: HandoffResult, request: ModelRequest): AssistantMessageItem[] {
    const { artifacts } = result;
    const say = (words: string) => assistantItem(spokenBy(this.#name, words));
    const words = wordsOfResult(result);
    if (artifacts.length === 0) return [say(words)];
    const names = say(artifacts.map(namedAsFile).join("\n"));
    rememberFiles([...itemsIn(request), names], artifacts);
    return words === "" ? [names] : [names, say(words)];
  }

  #ask(request: ModelRequest, hear: (event: ProgressEvent | DeltaEvent) => void) {
    const { step, work } = this.#workOf(itemsIn(request));
    return handedOff(this.#remote, step, work, request.signal, hear, hear);
  }

  /** What is handed off: the transfer's arguments if there was one, or else the last message. */
  #workOf(items: readonly AgentInputItem[]): { step: string; work: PortableWork } {
    const { capability } = this.#remote;
    const at = items.findLastIndex(
      (item) => item.type === "function_call" && item.name === this.#transfer,
    );
    const transfer = items[at];
    // The transfer's call and its result are not part of the conversation.
    const before = at === -1 ? items : items.slice(0, at);
    const said = at === -1 ? [] : items.slice(at + 1).filter(({ type }) => type === "message");
    const history = [...before, ...said];
    const step = transfer?.type === "function_call" ? transfer.callId : `turn-${items.length}`;
    const given = transfer?.type === "function_call" ? parseJson(transfer.arguments) : {};
    const isGiven = Object.keys(given as object).length > 0;
    const messages = saidSince(this.#remote.options.session, messagesOf(history), this.#name);
    const files = [...artifactsIn(history), ...filesBehind(items)];
    if (isGiven) return { step, work: workFrom(given, capability, messages, files) };
    const artifacts = files.length === 0 ? {} : { artifacts: files };
    return { step, work: inputFrom({ messages, ...artifacts }, capability) };
  }
}

function itemsIn({ input }: ModelRequest): AgentInputItem[] {
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
}

function namedAsFile({ name, media_type }: Artifact): string {
  return mediaInWords({ type: "file", name, media_type });
}
