/** The words and options after the command's name, checked against its row. */
export interface Given {
  readonly arguments: Readonly<Record<string, string>>;
  /** All words of a repeated argument. */
  readonly words?: readonly string[];
  readonly options: Readonly<Record<string, string | readonly string[] | true>>;
}

export function textOf(given: Given, option: string): string | undefined {
  const value = given.options[option];
  return typeof value === "string" ? value : undefined;
}

export function listOf(given: Given, option: string): readonly string[] {
  const value = given.options[option];
  return value === undefined || value === true ? [] : typeof value === "string" ? [value] : value;
}

export function isGiven(given: Given, option: string): boolean {
  return given.options[option] !== undefined;
}

/** A command line, quoted so that it can be typed again. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w./:=@<>-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
