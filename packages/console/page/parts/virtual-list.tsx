import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

export interface VirtualListProps {
  /** What the list is, for whoever can't see it. */
  readonly label: string;
  readonly head: readonly string[];
  readonly count: number;
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  readonly keyOf: (index: number) => string;
  readonly empty: ComponentChildren;
  readonly kind: string;
}

const OVERSCAN = 8;

/**
 * Gives each row in sight an element for as long as it is in sight, so that the focus stays with its
 * row. Elements of rows that have left are used again: to make new ones would take most of a frame.
 */
class Elements {
  #byRow = new Map<string, number>();

  /** The number of the element of each of these rows. */
  of(shown: readonly string[]): readonly number[] {
    const taken = new Map<string, number>();
    for (const row of shown) {
      const element = this.#byRow.get(row);
      if (element !== undefined) taken.set(row, element);
    }
    const used = new Set(taken.values());
    let next = 0;
    for (const row of shown) {
      if (taken.has(row)) continue;
      while (used.has(next)) next++;
      taken.set(row, next++);
    }
    this.#byRow = taken;
    return shown.map((row) => taken.get(row)!);
  }
}

/** A table of any length, of which only the rows in sight are drawn. */
export function VirtualList({
  label,
  head,
  count,
  rowHeight,
  row,
  keyOf,
  empty,
  kind,
}: VirtualListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer<number, void>((drawn) => drawn + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options));
  const [elements] = useState(() => new Elements());
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  const focused = useRef<string>(undefined);
  useLayoutEffect(() => {
    // The row that had the focus is out of sight, and another one has its element.
    const active = rowOf(document.activeElement);
    const isOwn = active !== undefined && scroller.current!.contains(active);
    if (isOwn && active.dataset["row"] !== focused.current) {
      scroller.current!.focus({ preventScroll: true });
    }
  });
  const items = virtual.getVirtualItems();
  const shown = items.map(({ index }) => keyOf(index));
  const numbers = elements.of(shown);
  return (
    <div class={`list ${kind}`} role="table" aria-label={label} aria-rowcount={count + 1}>
      <div role="rowgroup">
        <div class="row head" role="row" aria-rowindex={1}>
          {head.map((name) => (
            <span role="columnheader" key={name}>
              {name}
            </span>
          ))}
        </div>
      </div>
      {count === 0 && <p class="empty">{empty}</p>}
      <div
        class="scroller"
        // No higher than its rows.
        style={{ maxHeight: `${virtual.getTotalSize()}px` }}
        ref={scroller}
        role="rowgroup"
        tabIndex={0}
        aria-label={`${label}, rows`}
        onFocusIn={(event) => {
          focused.current = rowOf(event.target as Element)?.dataset["row"];
        }}
      >
        <div class="rows" role="presentation" style={{ height: `${virtual.getTotalSize()}px` }}>
          {items.map(({ index, start }, place) => (
            <div
              class="row"
              role="row"
              key={numbers[place]}
              data-row={shown[place]}
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${start}px)`, height: `${rowHeight}px` }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

/** The row that an element stands in. */
function rowOf(element: Element | null): HTMLElement | undefined {
  return element?.closest<HTMLElement>("[data-row]") ?? undefined;
}
