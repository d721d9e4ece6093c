import { Icon } from "#web/shared/ui/elements.tsx";
import { addressOf } from "#web/dashboard/router.ts";
import type { Report, ReportNumber } from "./numbers.ts";
import { changeOf, shown } from "./numbers.ts";

const width = 120;
const height = 28;

/** A number with its change, its course over the days, and its definition. */
export function Tile(props: { readonly number: ReportNumber; readonly report: Report; readonly before: Report }) {
  const { label, about, kind, page, better, of } = props.number;
  const value = of(props.report.totals);
  const change = changeOf(value, of(props.before.totals));
  const isGood =
    change === undefined || change.by === 0 || better === undefined ? undefined : change.by > 0 === (better === "more");
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd>
        <strong>{shown(kind, value)}</strong>
        <span class={`change ${isGood === undefined ? "" : isGood ? "good" : "bad"}`}>
          {change === undefined ? (
            "No earlier value"
          ) : (
            <>
              {change.by !== 0 && <Icon name={change.by > 0 ? "M12 19V5M6 11l6-6 6 6" : "M12 5v14M6 13l6 6 6-6"} />}
              {change.text}
            </>
          )}
        </span>
        <Sparkline values={props.report.rows.map(({ values }) => of(values))} />
        {page !== undefined && <a href={addressOf(page.path)}>{page.label}</a>}
        <details class="definition">
          <summary>Definition</summary>
          <p>{about}</p>
        </details>
      </dd>
    </div>
  );
}

/** The course of a number. It has no meaning of its own: the charts have tables. Days without a value are left out. */
function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  const max = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = width / Math.max(1, values.length - 1);
  const points = values.flatMap((value, i) =>
    value === null ? [] : [`${(i * step).toFixed(1)},${(height - 2 - (value / max) * (height - 4)).toFixed(1)}`],
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(" ")} fill="none" vector-effect="non-scaling-stroke" />
    </svg>
  );
}
