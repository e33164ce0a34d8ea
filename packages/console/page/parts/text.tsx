import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";

/**
 * Characters that could make text look like other text: controls, bidirectional marks, invisible
 * characters and lone surrogates.
 */
export const UNSEEN: RegExp =
  /(?!\n|\t|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** JSON in which every such character is written as an escape: it stands for the same value. */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNSEEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const PLAIN = /^[ -~]*$/;

/** The text with every character visible. */
export function visible(text: string): string {
  // Nearly all text is: this is much faster.
  if (PLAIN.test(text)) return text;
  return text.replace(
    UNSEEN,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** Text of an agent. Its direction can't reach what stands beside it. */
export function Text({ value }: { readonly value: string }): JSX.Element {
  return <bdi>{visible(value)}</bdi>;
}

/** An id: its end tells ids of the same moment apart. */
export function Id({ value, full = false }: { readonly value: string; readonly full?: boolean }) {
  return (
    <code title={visible(value)}>
      {full || value.length <= 16 ? visible(value) : `…${value.slice(-8)}`}
    </code>
  );
}

/** A value as JSON. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      <bdi>{visible(JSON.stringify(value, null, 2) ?? "")}</bdi>
    </pre>
  );
}

/** The time, for what counts down; it changes once a second. */
const now = signal(Date.now());
let readers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Keeps `now` going while the component is shown. */
export function useNow(): number {
  useEffect(() => {
    if (readers++ === 0) timer = setInterval(() => (now.value = Date.now()), 1_000);
    return () => {
      if (--readers === 0) clearInterval(timer);
    };
  }, []);
  return now.value;
}

// Made once: a table has many times, and a formatter takes longer to make than to use.
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const DATE_AND_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "short", timeStyle: "medium" });

/** A time of day, with its date for whoever points at it. */
export function Time({ at }: { readonly at: number }) {
  if (!Number.isFinite(at)) return <span>unknown</span>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const text = date.toISOString();
  return (
    <time dateTime={text} title={text}>
      {(isToday ? TIME : DATE_AND_TIME).format(date)}
    </time>
  );
}

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** A duration in its largest unit. */
export function durationText(ms: number): string {
  const size = Math.abs(ms);
  for (const [unit, length] of UNITS) {
    if (size >= length) return `${Math.round(size / length)} ${unit}`;
  }
  return `${Math.round(size)} ms`;
}

/** A share as a percentage. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** A number with its unit, as a tile. */
export function Figure({
  label,
  value,
  says,
  tone = "",
}: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly says?: ComponentChildren;
  readonly tone?: string;
}) {
  return (
    <div class={`figure ${tone}`}>
      <dt>{label}</dt>
      <dd>
        <strong>{value}</strong>
        {says !== undefined && <small>{says}</small>}
      </dd>
    </div>
  );
}
