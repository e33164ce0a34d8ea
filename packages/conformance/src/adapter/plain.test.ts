import { describeAdapter } from "../vitest.ts";
import { fixture } from "./plain-fixture.ts";

describeAdapter(fixture);
