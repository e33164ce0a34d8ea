import { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { AdapterFixture } from "./fixture.ts";
import { plainFixture } from "./plain-fixture.ts";
import { reportAdapter, reportAsJson, reportAsText, reportsAsMarkdown } from "./report.ts";
import { adapterSuite } from "./suite.ts";

const CAUSE = "call: the cause of a failure reaches the framework";
const LARGE = "call: a large payload passes both ways";
const TRACE = "call: the framework's trace goes along";

/** Reports no causes and no traces, and wrongly claims a gap about large payloads. */
function fixtureWith(gaps: AdapterFixture["gaps"]): AdapterFixture {
  const { adapter, module, call } = plainFixture({
    async calling(options, next) {
      try {
        return await next({ ...options, traceparent: undefined });
      } catch (error) {
        throw WaybillError.is(error, 500) ? new WaybillError(500, error.message) : error;
      }
    },
  });
  return { adapter, module, call, gaps };
}

test("a report shows what passes, what fails, and the reasons of gaps", async () => {
  const reason = "its tools | answer in text alone";
  const report = await reportAdapter(fixtureWith({ [CAUSE]: reason, [LARGE]: "it is slow" }));
  const of = (name: string) => report.cases.find((each) => each.name === name);
  expect(of(CAUSE)).toEqual({ name: CAUSE, verdict: "gap", says: reason });
  expect(of(LARGE)).toMatchObject({
    verdict: "failed",
    says: expect.stringMatching(/the case passes: remove the gap.*it is slow/),
  });
  expect(of(TRACE)).toMatchObject({ verdict: "failed" });
  expect(report).toMatchObject({ passed: report.cases.length - 3, failed: 2 });
  expect(JSON.parse(reportAsJson(report))).toEqual({
    adapter: "plain",
    passed: report.passed,
    failed: 2,
    gaps: [{ case: CAUSE, reason }],
    failures: expect.arrayContaining([{ case: TRACE, message: of(TRACE)?.says }]),
  });
  expect(reportAsText(report)).toContain(`gap  ${CAUSE}\n    ${reason}`);
  expect(reportAsText(report)).toMatch(/plain: \d+ passed, 2 failed, 1 gaps$/);
  const [head, line, ...rows] = reportsAsMarkdown([report]).split("\n");
  expect([head, line]).toEqual(["| Case | plain |", "| --- | --- |"]);
  expect(rows).toContain(`| ${CAUSE} | gap: its tools \\| answer in text alone |`);
});

test("a gap without a case is refused", () => {
  const fixture = fixtureWith({ "call: it makes coffee": "no water" });
  expect(() => adapterSuite(fixture)).toThrow(/makes coffee.*not a case of this suite/);
});

test("only the directions that an adapter has are tested", () => {
  const names = adapterSuite(fixtureWith({})).map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith("call: "))).toEqual([]);
  expect(names.length).toBeGreaterThan(25);
});
