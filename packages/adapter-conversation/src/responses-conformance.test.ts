import { describeAdapter } from "@waybill/conformance/vitest";
import { fixture } from "./responses-conformance-fixture.ts";

describeAdapter(fixture);
