import { describeAdapter } from "@waybill/conformance/vitest";
import { fixture } from "./sub-agent-fixture.ts";

describeAdapter(fixture);
