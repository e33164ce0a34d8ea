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
export function scoreOfWords(words: string, capability: Described): number {
  return scoreOf(wantedWords(words), capability);
}

type Described = Pick<Capability, "name" | "tags" | "description">;

function wantedWords(words: string): readonly string[] {
  return [...new Set(wordsOf(words))].slice(0, WORDS_AT_MOST);
}

function scoreOf(wanted: readonly string[], { name, tags, description = "" }: Described): number {
  if (wanted.length === 0) return 0;
  const places = [
    [WEIGHTS.name, foundIn(wanted, wordsOf(name))],
    [WEIGHTS.tags, foundIn(wanted, tags.flatMap(wordsOf))],
    [WEIGHTS.description, foundIn(wanted, wordsOf(description))],
  ] as const;
  const score = wanted.reduce((sum, word) => {
    const place = places.find(([, found]) => found.has(word));
    return sum + (place?.[0] ?? 0);
  }, 0);
  return score / (wanted.length * WEIGHTS.name);
}

/** Which words are wanted of those that a text has: each of the text is looked at once, however many are wanted. */
function foundIn(wanted: readonly string[], words: readonly string[]): ReadonlySet<string> {
  const exact = new Set(wanted);
  const byStem = new Map<string, string[]>();
  for (const word of wanted) {
    const stem = stemOf(word);
    if (stem.length === STEM_LETTERS) byStem.set(stem, [...(byStem.get(stem) ?? []), word]);
  }
  const found = new Set<string>();
  for (const word of words) {
    if (exact.has(word)) found.add(word);
    if (word.length < STEM_LETTERS) continue;
    for (const each of byStem.get(stemOf(word)) ?? []) {
      if (each.startsWith(word) || word.startsWith(each)) found.add(each);
    }
  }
  return found;
}

function stemOf(word: string): string {
  return word.slice(0, STEM_LETTERS);
}

/** Those who speak of the words most come first; among equals the order stays as it was. */
export function rankByWords<
  Fit extends { readonly capability: Capability; readonly behind?: string | undefined },
>(fits: readonly Fit[], words: string): Fit[] {
  const wanted = wantedWords(words);
  return (
    fits
      .map((fit) => ({ fit, score: scoreOf(wanted, fit.capability) }))
      .toSorted((a, b) => b.score - a.score)
      // The words have put them in this order, and nothing that was said of the one before it.
      .map(({ fit }) => ({ ...fit, behind: undefined }))
  );
}

function wordsOf(text: string): string[] {
  // What is written together by case is written apart in words: webResearch, web_research.
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
