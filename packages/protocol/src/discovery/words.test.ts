import { expect, test } from "vitest";
import { parseManifest } from "../index.ts";
import type { Capability } from "../index.ts";
import { findCandidates } from "./discovery.ts";
import { rankByWords, scoreOfWords } from "./words.ts";

function offer(name: string, description = "", tags: string[] = []): Capability {
  const [capability] = parseManifest({
    agent_id: "a",
    capabilities: [{ name, description, tags }],
  }).capabilities;
  return capability!;
}

test("a word counts more in a name than in a tag, and more in a tag than in a description", () => {
  const name = scoreOfWords("translate", offer("translate"));
  const tag = scoreOfWords("translate", offer("x", "", ["translate"]));
  const description = scoreOfWords("translate", offer("x", "I translate."));
  expect(name).toBe(1);
  expect(tag).toBeLessThan(name);
  expect(description).toBeLessThan(tag);
  expect(description).toBeGreaterThan(0);
  expect(scoreOfWords("cook", offer("translate"))).toBe(0);
});

test("a repeated word counts once", () => {
  const once = scoreOfWords("web research", offer("x", "research"));
  expect(scoreOfWords("web research", offer("x", "research ".repeat(100)))).toBe(once);
});

test("words are found in names of any spelling, and as prefixes of longer forms", () => {
  for (const name of ["web_research", "webResearch", "web/research", "Web.Researching"]) {
    expect(scoreOfWords("web research", offer(name))).toBe(1);
  }
  expect(scoreOfWords("a", offer("alpha"))).toBe(0);
});

test("words change the order of fitting candidates, and never who fits", () => {
  const trust = { isTrusted: true, source: "pin" } as never;
  const candidates = [
    { agent_id: "a", capability: offer("work"), trust },
    { agent_id: "b", capability: offer("work", "in French"), trust },
    { agent_id: "c", capability: offer("other", "French French French"), trust },
  ];
  const plain = findCandidates({ capability: "work" }, candidates, 0);
  const ranked = findCandidates({ capability: "work", words: "french" }, candidates, 0);
  expect(plain.fits.map(({ agent_id }) => agent_id)).toEqual(["a", "b"]);
  expect(ranked.fits.map(({ agent_id }) => agent_id)).toEqual(["b", "a"]);
  expect(ranked.leftOut).toEqual(plain.leftOut);
  const unmoved = rankByWords(plain.fits, "nothing of all this");
  expect(unmoved.map(({ agent_id }) => agent_id)).toEqual(
    plain.fits.map(({ agent_id }) => agent_id),
  );
});
