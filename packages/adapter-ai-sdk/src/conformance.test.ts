import { describeAdapter } from "@waybill/conformance/vitest";
import { fixture } from "./conformance-fixture.ts";

describeAdapter(fixture);
