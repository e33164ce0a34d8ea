import { describeAdapter } from "@waybill/conformance/vitest";
import { fixture } from "./chat-conformance-fixture.ts";

describeAdapter(fixture);
