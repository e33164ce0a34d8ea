/** The labels of a metric. Never values that strangers choose: each one is kept forever. */
export type Labels = Readonly<Record<string, string | number>>;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  samples(): Iterable<string> | Promise<Iterable<string>>;
}

/** Metrics in the text format of Prometheus. */
export class Exposition {
  static readonly contentType = "text/plain; version=0.0.4; charset=utf-8";
  readonly #metrics: Metric[] = [];

  counter(name: string, help: string): Counter {
    const counter = new Counter(name);
    this.#metrics.push({ name, help, type: "counter", samples: () => counter.samples() });
    return counter;
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(name, bounds);
    this.#metrics.push({ name, help, type: "histogram", samples: () => histogram.samples() });
    return histogram;
  }

  /** A value that is read on demand. */
  read(
    type: "counter" | "gauge",
    name: string,
    help: string,
    read: () => number | readonly Sample[] | Promise<number | readonly Sample[]>,
  ): void {
    const samples = async (): Promise<string[]> => {
      const value = await read();
      const all = typeof value === "number" ? [{ labels: {}, value }] : value;
      return all.map((each) => sample(name, each.labels, each.value));
    };
    this.#metrics.push({ name, help, type, samples });
  }

  async text(): Promise<string> {
    const lines: string[] = [];
    for (const { name, help, type, samples } of this.#metrics) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...(await samples()));
    }
    return `${lines.join("\n")}\n`;
  }
}

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export class Counter {
  readonly #name: string;
  readonly #values = new Map<string, Sample>();

  constructor(name: string) {
    this.#name = name;
  }

  add(labels: Labels = {}, by = 1): void {
    const key = written(labels);
    const value = (this.#values.get(key)?.value ?? 0) + by;
    this.#values.set(key, { labels, value });
  }

  samples(): string[] {
    return [...this.#values.values()].map(({ labels, value }) => sample(this.#name, labels, value));
  }
}

interface Bins {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

export class Histogram {
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #bins = new Map<string, Bins>();

  constructor(name: string, bounds: readonly number[]) {
    this.#name = name;
    this.#bounds = [...bounds, Infinity];
  }

  observe(value: number, labels: Labels = {}): void {
    const key = written(labels);
    let bins = this.#bins.get(key);
    if (bins === undefined) {
      bins = { labels, counts: this.#bounds.map(() => 0), sum: 0 };
      this.#bins.set(key, bins);
    }
    bins.counts[this.#bounds.findIndex((bound) => value <= bound)]!++;
    bins.sum += value;
  }

  samples(): string[] {
    const name = this.#name;
    return [...this.#bins.values()].flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((each, index) => {
        const bound = this.#bounds[index]!;
        const le = bound === Infinity ? "+Inf" : String(bound);
        return sample(`${name}_bucket`, { ...labels, le }, (count += each));
      });
      return [
        ...buckets,
        sample(`${name}_sum`, labels, sum),
        sample(`${name}_count`, labels, count),
      ];
    });
  }
}

function sample(name: string, labels: Labels, value: number): string {
  return `${name}${written(labels)} ${value}`;
}

function written(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(String(value))}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
