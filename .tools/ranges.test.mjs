import assert from "node:assert/strict";
import test from "node:test";
import {
  declaredIn,
  frameworks,
  installedBy,
  newestOf,
  oldestOf,
  requirementsOf,
} from "./ranges.mjs";
import { packages } from "./workspace.mjs";

test("the oldest version of a range is its lowest bound, compared by number", () => {
  assert.equal(oldestOf(">=1.4.10 <1.5"), "1.4.10");
  assert.equal(oldestOf("^7.0.0 || ^6.10.0 || ^6.9"), "6.9.0");
  assert.throws(() => oldestOf("*"), /no lower bound/);
});

test("the newest version is no release candidate, and 1.10 is newer than 1.9", () => {
  assert.equal(newestOf(["1.9.0", "1.10.0", "1.11.0-rc.1"]), "1.10.0");
});

test("an extra of the Python package is installed at one end of its range, with additional requirements", () => {
  const list = declaredIn(
    'a = ["x>=1"]\nautogen = ["one>=0.7,<0.8", "two>=0.7.2,<0.8"]\n',
    "autogen",
  );
  const of = (edge) => requirementsOf(list, ["three"], edge);
  assert.deepEqual(of("oldest"), ["one==0.7.0", "two==0.7.2", "three==0.7.0"]);
  assert.deepEqual(of("newest"), ["one>=0.7,<0.8", "two>=0.7.2,<0.8", "three>=0.7,<0.8"]);
  assert.deepEqual(requirementsOf('"x2>=1.2,<2"', [], "oldest"), ["x2==1.2.0"]);
});

test("the same applies to a page's install line, with its extras", () => {
  const list = installedBy('# A\n\npip install "one[grpc]>=0.7,<0.8"\n');
  assert.deepEqual(requirementsOf(list, ["two"], "oldest"), ["one[grpc]==0.7.0", "two==0.7.0"]);
});

test("every declared peer has its range tested", () => {
  const declared = packages().flatMap(({ name, manifest }) =>
    Object.keys(manifest.peerDependencies ?? {}).map((peer) => `${name}: ${peer}`),
  );
  const run = Object.values(frameworks).flatMap(({ package: name, peers }) =>
    peers.map((peer) => `${name}: ${peer}`),
  );
  assert.ok(declared.length > 0);
  assert.deepEqual(run.toSorted(), declared.toSorted());
});
