import { useId } from "preact/hooks";
import type { ReportNumber, ReportRow, Values } from "./numbers.ts";
import { shown } from "./numbers.ts";

/** More rows are in the table alone. */
const barsMax = 12;

interface ChartOf {
  readonly title: string;
  /** The first is drawn. */
  readonly columns: readonly ReportNumber[];
  readonly rows: readonly ReportRow[];
  /** The values of the range before, by the keys of the rows. */
  readonly before: ReadonlyMap<string, Values>;
}

/** A bar for the first number of each row, above a thinner one for the range before. The table below has the numbers. */
export function GroupChart({ title, columns: [number], rows, before }: ChartOf) {
  const id = useId();
  if (number === undefined) return null;
  const bars = rows
    .map(({ key, name, values }) => ({
      key,
      name,
      now: number.of(values) ?? 0,
      earlier: number.of(before.get(key) ?? {}) ?? 0,
    }))
    .toSorted((a, b) => b.now - a.now)
    .slice(0, barsMax);
  const most = Math.max(1, ...bars.flatMap(({ now, earlier }) => [now, earlier]));
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id}>
        {title}: {number.label.toLowerCase()}
      </figcaption>
      <p class="hint" aria-hidden="true">
        The thin bar is the range before.{rows.length > barsMax && ` The ${barsMax} largest are shown.`}
      </p>
      <ul class="bars" aria-hidden="true">
        {bars.map(({ key, name, now, earlier }) => (
          <li key={key}>
            <span class="bar-name" dir="auto">
              {name}
            </span>
            <span class="bar-place">
              <span class="bar" style={{ width: `${(now / most) * 100}%` }} />
              <span class="bar before" style={{ width: `${(earlier / most) * 100}%` }} />
            </span>
            <b>{shown(number.kind, now)}</b>
          </li>
        ))}
      </ul>
    </figure>
  );
}
