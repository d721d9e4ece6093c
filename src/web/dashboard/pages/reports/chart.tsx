import { useEffect, useId, useRef, useState } from "preact/hooks";
import UPlot from "uplot";
import type { ReportNumber, ReportRow } from "./numbers.ts";
import { shown } from "./numbers.ts";
import { NumberTable } from "./data-table.tsx";
import { DefinitionList } from "./definition-list.tsx";
import { longDate, shortDate } from "./range.ts";

const height = 220;
/** Lines differ by their dashes too, not by colour alone. */
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** A line for each number over the days of a report, with a legend, and a table of the same numbers. */
export function DayChart(props: {
  readonly title: string;
  readonly series: readonly ReportNumber[];
  readonly rows: readonly ReportRow[];
}) {
  const { title, series, rows } = props;
  const [at, setAt] = useState<number | null>(null);
  // A year has 365 rows, which would delay the page.
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const row = at === null ? undefined : rows[at];
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id}>{title}</figcaption>
      <ul class="legend">
        {series.map(({ label, kind, of }, i) => (
          <li key={label}>
            <svg viewBox="0 0 28 8" width="28" height="8" aria-hidden="true" class={`line-${i + 1}`}>
              <path d="M0 4h28" stroke-dasharray={dashes[i]?.join(" ")} />
            </svg>
            {label}
            {row !== undefined && <b>{shown(kind, of(row.values))}</b>}
          </li>
        ))}
        <li class="soft" aria-hidden="true">
          {row === undefined ? "" : longDate(row.key)}
        </li>
      </ul>
      <Plot series={series} rows={rows} point={setAt} />
      <details class="chart-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Numbers of this chart</summary>
        {isOpen && (
          <NumberTable
            caption={title}
            rowHeader="Day"
            columns={series}
            rows={rows}
            nameOf={({ key }) => longDate(key)}
          />
        )}
      </details>
      <DefinitionList of={series} />
    </figure>
  );
}

/** The canvas. It is hidden from screen readers, which read the table. */
function Plot(props: {
  readonly series: readonly ReportNumber[];
  readonly rows: readonly ReportRow[];
  readonly point: (index: number | null) => void;
}) {
  const { series, rows, point } = props;
  const place = useRef<HTMLDivElement>(null);
  const [isDark, setDark] = useState(() => darkMode().matches);
  useEffect(() => {
    const query = darkMode();
    const follow = (): void => setDark(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const plot = new UPlot(optionsOf(element, series, rows, point), dataOf(series, rows), element);
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [series, rows, isDark]);
  return <div class="plot" dir="ltr" aria-hidden="true" ref={place} />;
}

const darkMode = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

function dataOf(series: readonly ReportNumber[], rows: readonly ReportRow[]): UPlot.AlignedData {
  return [rows.map((_, i) => i), ...series.map(({ of }) => rows.map(({ values }) => of(values)))];
}

function optionsOf(
  element: HTMLElement,
  series: readonly ReportNumber[],
  rows: readonly ReportRow[],
  point: (index: number | null) => void,
): UPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name);
  const kind = series[0]?.kind ?? "count";
  const axis = {
    stroke: colour("--soft"),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: false, range: (_, min, max) => (min === max ? [min - 1, max + 1] : [min, max]) },
      y: { range: (_, __, max) => [0, Math.max(kind === "count" ? 4 : 1, max * 1.05)] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        incrs: [1, 2, 7, 14, 30, 60, 90, 180],
        space: 64,
        values: (_, ticks) => ticks.map((tick) => dayAt(rows, tick)),
      },
      {
        ...axis,
        size: kind === "time" ? 76 : 52,
        ...(kind === "count"
          ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000] }
          : {}),
        values: (_, ticks) => ticks.map((tick) => shown(kind, tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ label }, i) => ({
        label,
        stroke: colour(`--line-${i + 1}`),
        width: 2,
        dash: [...(dashes[i] ?? [])],
        points: { show: rows.length <= 31, size: 5, fill: colour("--surface") },
        spanGaps: true,
      })),
    ],
    hooks: { setCursor: [(plot) => point(plot.cursor.idx ?? null)] },
  };
}

const dayAt = (rows: readonly ReportRow[], tick: number): string => {
  const row = Number.isInteger(tick) ? rows[tick] : undefined;
  return row === undefined ? "" : shortDate(row.key);
};
