/** Model providers accept no longer names. */
const LENGTH = 64;
/** The most characters of the delegator's id that a name can end with. */
const ID_LENGTH = 32;

const BLANK = /[\p{Cc}\p{Z}]+/gu;
/** Invisible characters. */
const INVISIBLE = /[\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Characters that end a name, or look like one that does, where the text follows it. */
const COLONS = /[:\u02d0\u02f8\u05c3\u0589\u2236\ua789\ufe13\ufe30\ufe55\uff1a]/gu;

/**
 * A name that is safe before text: one line of at most 64 visible characters without a colon. Empty if
 * nothing visible is left.
 */
export function speakerName(name: string): string {
  const seen = name.replaceAll(INVISIBLE, "").replaceAll(BLANK, " ").replaceAll(COLONS, "_");
  return cut(seen.trim(), LENGTH);
}

/** The names of a recipient and its parts. Other speakers never appear under these names. */
export class OwnNames {
  readonly #keys: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#keys = new Set(names.map(keyOf));
  }

  /** Whether a reader, or a provider that normalizes names, would take a name for one of these. */
  has(name: string): boolean {
    return this.#keys.has(keyOf(name));
  }

  /** A name that can't be mistaken for one of these: it says whose account it comes from. */
  apart(name: string, by: string): string {
    for (let count = 1; ; count++) {
      const ending = `_of_${cut(by, ID_LENGTH)}${count === 1 ? "" : `_${count}`}`;
      const candidate = cut(name, LENGTH - ending.length) + ending;
      if (!this.has(candidate)) return candidate;
    }
  }
}

/** The name for turns of users without one, if a part of the recipient has the name of their role. */
export function unnamedUser(names: readonly string[], by: string): string | undefined {
  const own = new OwnNames(names);
  if (!own.has("user")) return undefined;
  const name = speakerName(by);
  return own.has(name) ? own.apart(name, by) : name;
}

/** The letters and digits of a name, equal for all the ways in which frameworks and providers write it. */
export function keyOf(name: string): string {
  const fit = speakerName(name);
  const letters = fit.normalize("NFKD").toLowerCase();
  return letters.replaceAll(/[^\p{L}\p{N}]/gu, "") || fit;
}

function cut(text: string, length: number): string {
  return [...text].slice(0, length).join("").trim();
}
