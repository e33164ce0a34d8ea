import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("responses", new URL(import.meta.url), {});
