/** Models' hosts take no longer names. */
const LENGTH = 64;
/** How much of its delegator's id a name can end with. */
const ID_LENGTH = 32;

const BLANK = /[\p{Cc}\p{Z}]+/gu;
/** Nothing is seen where these stand. */
const INVISIBLE = /[\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A colon ends a name where the words follow it, and these look like one. */
const COLONS = /[:\u02d0\u02f8\u05c3\u0589\u2236\ua789\ufe13\ufe30\ufe55\uff1a]/gu;

/**
 * A name as it may stand before words: one line of at most 64 characters, all of which are seen, without
 * a colon. Empty where nothing of it is seen.
 */
export function speakerName(name: string): string {
  const seen = name.replaceAll(INVISIBLE, "").replaceAll(BLANK, " ").replaceAll(COLONS, "_");
  return cut(seen.trim(), LENGTH);
}

/** The names of a recipient and its parts, under which others' words never stand. */
export class OwnNames {
  readonly #keys: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#keys = new Set(names.map(keyOf));
  }

  /** Whether a name is one of these to whoever reads it, or to a host that writes names its own way. */
  has(name: string): boolean {
    return this.#keys.has(keyOf(name));
  }

  /** A name of which nobody can think that it is one of these: it says whose account it is from. */
  apart(name: string, by: string): string {
    for (let count = 1; ; count++) {
      const ending = `_of_${cut(by, ID_LENGTH)}${count === 1 ? "" : `_${count}`}`;
      const candidate = cut(name, LENGTH - ending.length) + ending;
      if (!this.has(candidate)) return candidate;
    }
  }
}

/** Who speaks the turns of users without a name, where their role is what a part is called. */
export function unnamedUser(names: readonly string[], by: string): string | undefined {
  const own = new OwnNames(names);
  if (!own.has("user")) return undefined;
  const name = speakerName(by);
  return own.has(name) ? own.apart(name, by) : name;
}

/** The letters and digits of a name, alike in each way in which frameworks and hosts write it. */
export function keyOf(name: string): string {
  const fit = speakerName(name);
  const letters = fit.normalize("NFKD").toLowerCase();
  return letters.replaceAll(/[^\p{L}\p{N}]/gu, "") || fit;
}

function cut(text: string, length: number): string {
  return [...text].slice(0, length).join("").trim();
}
