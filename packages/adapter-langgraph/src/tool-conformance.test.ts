import { describeAdapter } from "@waybill/conformance/vitest";
import { fixture } from "./tool-fixture.ts";

describeAdapter(fixture);
