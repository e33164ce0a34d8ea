/** The most similar name, with at most a third of its letters changed. */
function nearest(word: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const name of names) {
    const far = name.startsWith(word) && word.length > 1 ? 0.5 : distance(word, name);
    if (far < least && far <= Math.max(1, name.length / 3)) [best, least] = [name, far];
  }
  return best;
}

/** A suggestion to append to a message, or an empty string. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const name = nearest(word, names);
  return name === undefined ? "" : ` Did you mean ${name}?`;
}

/** The edit distance: letters to change, add, remove or transpose. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    const above = rows[i - 1]!;
    for (let j = 1; j <= b.length; j++) {
      const changed = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? rows[i - 2]![j - 2]! + 1 : Infinity;
      row.push(Math.min(changed, swapped, above[j]! + 1, row[j - 1]! + 1));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
