import type { AdapterFixture } from "@waybill/conformance";

/** Every framework in the matrix, and the fixture with which its adapter's own suite runs it. */
const FIXTURES = {
  LangGraph: "packages/adapter-langgraph/src",
  "OpenAI client": "packages/adapter-conversation/src",
  "OpenAI Agents": "packages/adapter-openai-agents/src",
  Team: "packages/adapter-conversation/src/team",
  Crew: "packages/adapter-crew/src",
  Mastra: "packages/adapter-mastra/src",
  "AI SDK": "packages/adapter-ai-sdk/src",
  KaibanJS: "packages/adapter-kaiban/with-kaibanjs",
  OpenClaw: "packages/adapter-openclaw/with-openclaw",
  AutoGen: "apps/interop/src/autogen",
  AG2: "apps/interop/src/ag2",
  CrewAI: "apps/interop/src/crewai",
  Echo: "packages/adapter-echo/src",
} as const;

export interface Framework {
  readonly name: string;
  readonly fixture: AdapterFixture;
}

export interface Pair {
  readonly serving: Framework;
  readonly calling: Framework;
}

export async function frameworks(): Promise<Framework[]> {
  const root = new URL("../../../", import.meta.url);
  return Promise.all(
    Object.entries(FIXTURES).map(async ([name, folder]) => {
      const module = new URL(`${folder}/conformance-fixture.ts`, root);
      const { fixture } = (await import(module.href)) as { fixture: AdapterFixture };
      return { name, fixture };
    }),
  );
}

/** A framework in another language has its own process and environment. */
export function isForeign({ serving, calling }: Pair): boolean {
  return (serving.fixture.peer ?? calling.fixture.peer) !== undefined;
}

/** Whether one of them is this framework. */
export function isWith(name: string, { serving, calling }: Pair): boolean {
  return serving.name === name || calling.name === name;
}
