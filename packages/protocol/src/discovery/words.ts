import type { Capability } from "../manifest/capability.ts";

/** What a word weighs by where it is found; each counts once, at its best place, however often it stands there. */
const WEIGHTS = { name: 4, tags: 3, description: 1 } as const;
/** From so many letters on, a word also fits its longer forms: `translate` and `translated`. */
const STEM_LETTERS = 4;
const WORDS_AT_MOST = 32;

/**
 * How much a capability speaks of these words, from 0 to 1. Its text is the agent's own claim: it may
 * put a fit in front of others, and must never make one.
 */
export function scoreOfWords(
  words: string,
  { name, tags, description = "" }: Pick<Capability, "name" | "tags" | "description">,
): number {
  const wanted = [...new Set(wordsOf(words))].slice(0, WORDS_AT_MOST);
  if (wanted.length === 0) return 0;
  const places = [
    [WEIGHTS.name, wordsOf(name)],
    [WEIGHTS.tags, tags.flatMap(wordsOf)],
    [WEIGHTS.description, wordsOf(description)],
  ] as const;
  const score = wanted.reduce((sum, word) => {
    const place = places.find(([, found]) => found.some((each) => isSameWord(word, each)));
    return sum + (place?.[0] ?? 0);
  }, 0);
  return score / (wanted.length * WEIGHTS.name);
}

/** Those who speak of the words most come first; among equals the order stays as it was. */
export function rankByWords<Fit extends { readonly capability: Capability }>(
  fits: readonly Fit[],
  words: string,
): Fit[] {
  return fits
    .map((fit) => ({ fit, score: scoreOfWords(words, fit.capability) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ fit }) => fit);
}

function wordsOf(text: string): string[] {
  // What is written together by case is written apart in words: webResearch, web_research.
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function isSameWord(wanted: string, found: string): boolean {
  if (wanted === found) return true;
  if (Math.min(wanted.length, found.length) < STEM_LETTERS) return false;
  return wanted.startsWith(found) || found.startsWith(wanted);
}
