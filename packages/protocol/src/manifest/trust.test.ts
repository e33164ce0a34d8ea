import { describe, expect, test } from "vitest";
import type { Digest } from "../signing/digest.ts";
import { decideTrust } from "./trust.ts";
import type { TrustPolicy, TrustSubject, Vouched } from "./trust.ts";

const digest: Digest = `sha256:${"a".repeat(64)}`;
const other: Digest = `sha256:${"b".repeat(64)}`;
const subject: TrustSubject = { agentId: "editor", kid: "k1", digest };

const says = (vouched: Vouched) => new Map([["editor", vouched]]);
const yes = says({ kids: ["k0", "k1"] });
const no = says({ kids: ["k2"] });
const nobody = new Map<string, Vouched>();

describe("the first source that knows the agent decides", () => {
  test.each<[string, TrustPolicy, string]>([
    ["a pin against all others", { pins: yes, allowList: nobody, registry: no }, "pin"],
    ["the allow-list against the registry", { allowList: yes, registry: no }, "allow_list"],
    ["a pin of somebody else says nothing", { pins: nobody, registry: yes }, "registry"],
    ["the registry before first use", { registry: yes, firstUse: true }, "registry"],
    ["first use when nobody knows it", { registry: nobody, firstUse: true }, "first_use"],
    ["a pinned digest", { pins: says({ digest }) }, "pin"],
    ["a name on the allow-list", { allowList: says({}) }, "allow_list"],
    [
      "a name on the allow-list whose key the registry knows",
      { allowList: says({}), registry: yes },
      "registry",
    ],
  ])("for it: %s", (_what, policy, by) => {
    expect(decideTrust(policy, subject)).toMatchObject({ isTrusted: true, by });
  });

  test.each<[string, TrustPolicy, string, number]>([
    ["a pinned key that is another one", { pins: no, registry: yes, firstUse: true }, "pin", 401],
    ["a pinned digest that has changed", { pins: says({ digest: other }) }, "pin", 403],
    [
      "a pinned digest that has changed under the pinned key",
      { pins: says({ digest: other, kids: ["k1"] }) },
      "pin",
      403,
    ],
    [
      "not being on the allow-list",
      { allowList: nobody, registry: yes, firstUse: true },
      "allow_list",
      403,
    ],
    ["another key on the allow-list", { allowList: no, registry: yes }, "allow_list", 401],
    [
      "a name on the allow-list, but another key in the registry",
      { allowList: says({}), registry: no, firstUse: true },
      "registry",
      401,
    ],
    ["another key in the registry", { registry: no, firstUse: true }, "registry", 401],
    ["an agent without any key left", { registry: says({ kids: [] }) }, "registry", 401],
    ["a stranger, with first use off", {}, "nothing", 401],
    ["a stranger, with first use switched off", { firstUse: false }, "nothing", 401],
  ])("against it: %s", (_what, policy, by, status) => {
    const decision = decideTrust(policy, subject);
    expect(decision).toMatchObject({ isTrusted: false, by, status });
    expect(decision.reason).toContain("editor");
  });
});

test("the reason names both digests, so that a person can compare them", () => {
  const { reason } = decideTrust({ pins: says({ digest: other }) }, subject);
  expect(reason).toContain(digest);
  expect(reason).toContain(other);
});
