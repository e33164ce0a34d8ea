import type { AdapterFixture } from "@waybill/conformance";

/** Every framework in the matrix, and where the fixture is by which its adapter's own suite runs it. */
const FIXTURES = {
  LangGraph: "adapter-langgraph/src",
  "OpenAI client": "adapter-conversation/src",
  "OpenAI Agents": "adapter-conversation/src/openai-agents",
  Team: "adapter-conversation/src/team",
  Crew: "adapter-crew/src",
  Mastra: "adapter-crew/src/mastra",
  Echo: "adapter-echo/src",
} as const;

export interface Framework {
  readonly name: string;
  readonly fixture: AdapterFixture;
}

export async function frameworks(): Promise<Framework[]> {
  const packages = new URL("../../../packages/", import.meta.url);
  return Promise.all(
    Object.entries(FIXTURES).map(async ([name, folder]) => {
      const module = new URL(`${folder}/conformance-fixture.ts`, packages);
      const { fixture } = (await import(module.href)) as { fixture: AdapterFixture };
      return { name, fixture };
    }),
  );
}
