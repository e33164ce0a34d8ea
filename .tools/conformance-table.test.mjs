import assert from "node:assert/strict";
import test from "node:test";
import { withConformance } from "./conformance-table.mjs";

const text = "before\n<!-- conformance -->\nold\n<!-- /conformance -->\nafter";

test("a row shows an adapter's results, and each gap with its reason", () => {
  const one = { adapter: "echo", cases: [{}, {}], passed: 2, failed: 0, gaps: [] };
  const gap = { case: "call: a refusal", reason: "nobody refuses" };
  const two = { adapter: "team", cases: [{}, {}], passed: 1, failed: 0, gaps: [gap] };
  assert.equal(
    withConformance(text, [one, two]),
    `before
<!-- conformance -->

| Adapter | Cases | Passed | Failed | Gaps |
| ------- | ----- | ------ | ------ | ---- |
| echo    | 2     | 2      | 0      | 0    |
| team    | 2     | 1      | 0      | 1    |

<details>
<summary>The gaps, and why</summary>

- **team**, call: a refusal: nobody refuses

</details>

<!-- /conformance -->
after`,
  );
});

test("without gaps there is nothing to unfold", () => {
  const one = { adapter: "echo", cases: [{}], passed: 1, failed: 0, gaps: [] };
  assert.doesNotMatch(withConformance(text, [one]), /details/);
});
