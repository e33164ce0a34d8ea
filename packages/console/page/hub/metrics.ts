/** The sum of a metric's samples in a page for Prometheus; 0 if it has none. */
export function gauge(text: string, name: string): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) continue;
    const next = line[name.length];
    if (next === " " || next === "{") sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}
