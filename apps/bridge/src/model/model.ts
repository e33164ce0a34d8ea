import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, ScriptedModel, Turn } from "@waybill/scripted-model";
import { NAMES, STAFF } from "../staff/staff.ts";
import { indexOfQuestion, SLOW } from "../story/questions.ts";
import { realModel } from "./real.ts";
import { scriptedTurn } from "./script.ts";

export interface NewsroomModel {
  readonly url: string;
  /** Its name, given by its maker or by the demo. */
  readonly name: string;
  readonly isReal: boolean;
  /** Settles with the question that the victim is working on. */
  readonly isVictimAtWork: Promise<number>;
  /** From now on the slow question is answered like the others. */
  release(): void;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The model of the whole newsroom, real or scripted. It runs on this machine in both cases, because
 * the demo holds an answer back here: until the process that asked is killed, or out of time.
 */
export async function startModel(victim: string, environment: Environment): Promise<NewsroomModel> {
  const real = realModel(environment);
  const atWork = Promise.withResolvers<number>();
  let isSlow = true;
  const answer = (request: ModelRequest): Turn => real?.turn(request) ?? scriptedTurn(request);
  const model: ScriptedModel = await startScriptedModel(async (request) => {
    const asked = indexOfQuestion(JSON.stringify(request.body));
    const isAboutQuestion = asked !== undefined && RESEARCHERS.has(nameIn(request));
    if (!isAboutQuestion) return answer(request);
    if (asked === SLOW) return isSlow ? held(request) : answer(request);
    if (nameIn(request) !== victim) return answer(request);
    return held(request, () => atWork.resolve(asked));
  });
  return {
    url: model.url,
    name: real?.name ?? "scripted",
    isReal: real !== undefined,
    isVictimAtWork: atWork.promise,
    release: () => (isSlow = false),
    close: () => model.close(),
  };
}

function nameIn({ headers }: ModelRequest): string {
  return String(headers["x-agent"]);
}

const RESEARCHERS: ReadonlySet<string> = new Set(
  NAMES.filter((name) => STAFF[name].file === "researcher.ts"),
);

/** Starts to speak, and never finishes. */
function held({ signal }: ModelRequest, onBegun?: () => void): Turn {
  return { text: begun() };

  async function* begun(): AsyncGenerator<string> {
    yield '{"answer": "';
    onBegun?.();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
}
