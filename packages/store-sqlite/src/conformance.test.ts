import { describeStore } from "@waybill/conformance/vitest";
import { locate, openSubject, remove } from "./store-fixture.ts";

describeStore("sqlite", {
  isDurable: true,
  open: openSubject,
  process: { module: new URL("./store-fixture.ts", import.meta.url), locate, remove },
});
