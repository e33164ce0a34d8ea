import {
  conversationOf,
  historyFrom,
  inputOf,
  mediaIn,
  shownByUsers,
  withFiles,
} from "@waybill/agent/adapter";
import type { PortableWork, Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message } from "@waybill/protocol";
import { namesIn } from "./graph.ts";
import type { Graph } from "./graph.ts";
import { toLangChain } from "./message-in.ts";

type Given = Pick<Run, "work" | "capability" | "handoffId" | "delegator">;

/** The key under which a graph that keeps messages is talked to, unless its input is members of its state. */
export function isConversation({ channels }: Pick<Graph, "channels">, input?: Json): boolean {
  if (!Object.hasOwn(channels, "messages")) return false;
  return !isObject(input) || !Object.keys(input).some((name) => Object.hasOwn(channels, name));
}

/** The work as the initial state of a graph. */
export function stateOf(graph: Graph, given: Given): unknown {
  const { channels } = graph;
  const { work, capability, handoffId, delegator: by } = given;
  const { messages = [], artifacts = [] } = work;
  const takes = (name: string) => Object.hasOwn(channels, name);
  const files = takes("artifacts") && artifacts.length > 0 ? { artifacts } : {};
  const toShow = takes("artifacts") ? [] : artifacts;
  const turns = (said: readonly Message[]) =>
    said.flatMap((message, index) => toLangChain(message, givenId(handoffId, index)));
  if (isConversation({ channels }, work.input)) {
    const said = conversationOf(work, capability.output_schema);
    return { messages: turns(shownByUsers(withFiles(said, toShow))), ...files };
  }
  const input = inputOf(work, capability.input_schema);
  if (!takes("messages")) {
    assertNothingLost(work, toShow);
    return isObject(input) ? { ...input, ...files } : input;
  }
  if (!isObject(input)) return input;
  const said = (input["messages"] ?? messages) as readonly Message[];
  const history = historyFrom(said, { by, names: namesIn(graph) });
  return { ...input, ...files, messages: turns(shownByUsers(withFiles(history, toShow))) };
}

/** A state without messages has no place for a history, and none for files without artifacts. */
function assertNothingLost({ input, messages = [] }: PortableWork, toShow: readonly Artifact[]) {
  const [file] = toShow;
  if (file !== undefined) throw placeless(`the file ${file.name}`, "artifacts");
  const [media] = messages.flatMap(mediaIn);
  if (media !== undefined)
    throw placeless(`the ${media.type} ${media.name ?? media.media_type}`, "messages");
  // Without an input, what the history states is the input.
  if (input !== undefined && messages.length > 0) throw placeless("a history", "messages");
}

function placeless(what: string, channel: string): WaybillError {
  return new WaybillError(
    422,
    `The work has ${what}, but the state of the graph can't hold it: leave it out, or give the state a channel ${channel}.`,
  );
}

/** The id of a message that is given to a run: deterministic, and unique. */
export function givenId(handoffId: string, name: string | number): string {
  return `${handoffId}/${name}`;
}

export function isGiven(id: string | undefined, handoffId: string): boolean {
  return id?.startsWith(givenId(handoffId, "")) === true;
}

function isObject(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
