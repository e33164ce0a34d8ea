import type { Capability } from "../manifest/capability.ts";

/** The weight of a word by where it occurs. Each word counts once, at its best place. */
const WEIGHTS = { name: 4, tags: 3, description: 1 } as const;
/** Words with at least this many letters also match longer forms: `translate` and `translated`. */
const STEM_LETTERS = 4;
const WORDS_AT_MOST = 32;

/**
 * How well a capability matches these words, from 0 to 1. Its text is the agent's own claim: it may
 * improve the rank of a candidate that fits, and must never make one fit.
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

/**
 * Which of the wanted words occur in a text. Each word of the text is looked at once, however many are
 * wanted.
 */
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

/** Puts candidates that match the words best first; among equals the order is kept. */
export function rankByWords<
  Fit extends { readonly capability: Capability; readonly behind?: string | undefined },
>(fits: readonly Fit[], words: string): Fit[] {
  const wanted = wantedWords(words);
  return (
    fits
      .map((fit) => ({ fit, score: scoreOf(wanted, fit.capability) }))
      .toSorted((a, b) => b.score - a.score)
      // Their order is by words now, so the reason for being behind the one before no longer holds.
      .map(({ fit }) => ({ ...fit, behind: undefined }))
  );
}

function wordsOf(text: string): string[] {
  // Splits camel case and snake case into words: webResearch, web_research.
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
