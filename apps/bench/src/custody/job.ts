/** The same work on both sides: this text goes to the recipient, and comes back. */
const TEXT = "What came of it, as far as anybody has written it down? ".repeat(5).slice(0, 256);

export function inputOf(index: number): { readonly text: string } {
  return { text: `${index} ${TEXT}` };
}

export function outputOf({ text }: { readonly text: string }): { readonly text: string } {
  return { text: `done: ${text}` };
}

/** The caller checks that it got the answer to its own question. */
export function checkOutput(index: number, output: unknown): void {
  const { text } = outputOf(inputOf(index));
  if ((output as { text?: unknown } | undefined)?.text === text) return;
  throw new Error(`task ${index} came back with ${JSON.stringify(output)}`);
}
