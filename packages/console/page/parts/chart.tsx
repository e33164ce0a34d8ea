import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Rates } from "../hub/rates.ts";

const HEIGHT = 150;

/** Handoffs that begin and end, by the second. Its figures are beside it as text. */
export function RateChart({ rates }: { readonly rates: Rates }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current!;
    const chart = new uPlot(optionsOf(element), rates.series(Date.now()), element);
    const timer = setInterval(() => chart.setData(rates.series(Date.now())), 1_000);
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => chart.redraw();
    scheme.addEventListener("change", redraw);
    return () => {
      clearInterval(timer);
      observer.disconnect();
      scheme.removeEventListener("change", redraw);
      chart.destroy();
    };
  }, [rates]);
  return (
    <div
      class="chart"
      ref={place}
      role="img"
      aria-label="Handoffs begun and ended per second, for the last five minutes"
    />
  );
}

function optionsOf(element: HTMLElement): uPlot.Options {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name);
  const axis = {
    stroke: color("--faint"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(5, most * 1.15)] } },
    axes: [
      { ...axis, values: (_, seconds) => seconds.map(minuteText), space: 70 },
      { ...axis, size: 40 },
    ],
    series: [
      {},
      { label: "begun", stroke: color("--accent"), width: 2, points: { show: false } },
      { label: "ended", stroke: color("--good"), width: 2, points: { show: false } },
    ],
  };
}

function minuteText(second: number): string {
  const time = new Date(second * 1_000).toLocaleTimeString("en-GB");
  return second % 60 === 0 ? time.slice(0, 5) : time;
}
