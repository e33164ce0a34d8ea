export interface Vector {
  readonly id: string;
  readonly rule: readonly string[];
  readonly title: string;
  readonly input: unknown;
  readonly expect: unknown;
}

/** One row of a table of cases: the numbers of the rules, the title, the input, and the expected result. */
export interface Row {
  readonly rules: readonly number[];
  readonly title: string;
  readonly input: unknown;
  readonly expect: unknown;
}

export interface VectorFile {
  readonly name: string;
  readonly about: string;
  readonly cases: readonly Vector[];
}

export function vectorFile(
  name: string,
  prefix: string,
  about: string,
  rows: readonly Row[],
): VectorFile {
  const titles = new Set<string>();
  const cases = rows.map(({ rules, title, input, expect }, index) => {
    if (titles.has(title)) throw new Error(`${name} has two cases with the title "${title}"`);
    titles.add(title);
    const rule = rules.map((number) => `WB-${String(number).padStart(2, "0")}`);
    return { id: `${prefix}-${String(index + 1).padStart(3, "0")}`, rule, title, input, expect };
  });
  return { name, about, cases };
}
