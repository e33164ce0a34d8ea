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
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
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
        ref={scroller}
        role="rowgroup"
        tabIndex={0}
        aria-label={`${label}, rows`}
      >
        <div class="rows" role="presentation" style={{ height: `${virtual.getTotalSize()}px` }}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <div
              class="row"
              role="row"
              // The list itself goes by places: with a key of its own for each row it would measure
              // all of them again with every change.
              key={keyOf(index)}
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
