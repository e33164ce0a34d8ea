import { describeAdapter } from "@waybill/conformance/vitest";
import { fixture } from "./parked-fixture.ts";

describeAdapter(fixture);
