import { useState } from "preact/hooks";
import type { Metric } from "#domain/reporting/metrics.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { saveCsv } from "./csv.ts";
import { DefinitionList } from "./definition-list.tsx";
import { definitions, place } from "./definitions.ts";
import type { Report } from "./numbers.ts";
import { shown } from "./numbers.ts";
import { longDate } from "./range.ts";

const hours = Array.from({ length: 24 }, (_, hour) => hour);
const levels = 5;

const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short", timeZone: "UTC" });
/** The first of January 2024 was a Monday. */
const days = Array.from({ length: 7 }, (_, day) => weekday.format(Date.UTC(2024, 0, 1 + day)));

const choices = [
  { metric: "conversations", label: "Conversations" },
  { metric: "messages_by_customers", label: "Messages by customers" },
  { metric: "handed_over", label: "Hand-overs" },
] as const satisfies readonly { readonly metric: Metric; readonly label: string }[];

/** The address of the numbers that the table shows. */
export const hoursPath = ({ from, to }: Pick<Report, "from" | "to">): string =>
  `analytics?${new URLSearchParams([
    ["from", from],
    ["to", to],
    ["by", "hour_of_week"],
    ...choices.map(({ metric }): [string, string] => ["metrics", metric]),
  ])}`;

/** The hours of the week of the range and of the range before, as tables of one scale: darker hours have more. */
export function HourTables({ report, before }: { readonly report: Report; readonly before: Report }) {
  const [metric, setMetric] = useState<Metric>("conversations");
  const { label } = choices.find((choice) => choice.metric === metric) ?? choices[0];
  const now = valuesOf(report, metric);
  const earlier = valuesOf(before, metric);
  const max = Math.max(1, ...now, ...earlier);
  const title = `${label} by hour of the week`;
  return (
    <>
      <div class="filters">
        <label class="filter">
          <span class="unseen">Number</span>
          <select value={metric} onChange={({ currentTarget }) => setMetric(currentTarget.value as Metric)}>
            {choices.map((choice) => (
              <option key={choice.metric} value={choice.metric}>
                {choice.label}
              </option>
            ))}
          </select>
        </label>
        <Button
          label="Save as CSV"
          kind="secondary"
          shape={icons.download}
          onClick={() => saveCsv(`${label} by hour of week`, csvRows(now, earlier))}
        />
      </div>
      <h3 class="heat-title">{daysOf(report)}</h3>
      <HeatTable title={title} timezone={report.timezone} values={now} max={max} />
      <h3 class="heat-title">The range before: {daysOf(before)}</h3>
      <HeatTable title={`${title}, the range before`} timezone={before.timezone} values={earlier} max={max} />
      <DefinitionList of={choices.map((choice) => ({ ...choice, about: definitions[choice.metric] }))} more={place} />
    </>
  );
}

const valuesOf = ({ rows }: Report, metric: Metric): readonly number[] => rows.map(({ values }) => values[metric] ?? 0);

const valueAt = (values: readonly number[], day: number, hour: number): number => values[day * 24 + hour] ?? 0;

const daysOf = ({ from, to }: Report): string =>
  from === to ? longDate(from) : `${longDate(from)} to ${longDate(to)}`;

const csvRows = (now: readonly number[], earlier: readonly number[]): readonly (readonly (string | number)[])[] => [
  ["Day", ...hours.map((hour) => `${hour}:00`), ...hours.map((hour) => `${hour}:00 before`)],
  ...days.map((name, day) => [
    name,
    ...[now, earlier].flatMap((values) => hours.map((hour) => valueAt(values, day, hour))),
  ]),
];

function HeatTable(props: {
  readonly title: string;
  readonly timezone: string;
  readonly values: readonly number[];
  /** The value of the darkest hour. */
  readonly max: number;
}) {
  const { title, timezone, values, max } = props;
  return (
    // The table scrolls sideways on phones.
    <div class="table-frame heat-frame" tabIndex={0} role="region" aria-label={title}>
      <table class="heat">
        <caption class="unseen">
          {title}, in the time zone {timezone}
        </caption>
        <thead>
          <tr>
            <td />
            {hours.map((hour) => (
              <th key={hour} scope="col">
                {hour}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((name, day) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {hours.map((hour) => (
                <HeatCell key={hour} value={valueAt(values, day, hour)} max={max} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const HeatCell = ({ value, max }: { readonly value: number; readonly max: number }) => (
  <td class={`heat-${Math.ceil((value / max) * levels)}`}>
    {value === 0 ? <span class="unseen">0</span> : shown("count", value)}
  </td>
);
