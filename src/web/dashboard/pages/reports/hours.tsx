import { useState } from "preact/hooks";
import type { Metric } from "#domain/reporting/metrics.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { saveCsv } from "./csv.ts";
import { DefinitionList } from "./definition-list.tsx";
import { place } from "./definitions.ts";
import type { Report, ReportNumber } from "./numbers.ts";
import { counted, shown } from "./numbers.ts";
import { longDate } from "./range.ts";

const hours = Array.from({ length: 24 }, (_, hour) => hour);
const levels = 5;

const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short", timeZone: "UTC" });
/** The first of January 2024 was a Monday. */
const days = Array.from({ length: 7 }, (_, day) => weekday.format(Date.UTC(2024, 0, 1 + day)));

const choice = (label: string, metric: Metric) => ({ ...counted(label, metric), metric });

const choices = [
  choice("Conversations", "conversations"),
  choice("Messages by customers", "messages_by_customers"),
  choice("Hand-overs", "handed_over"),
  choice("First reply, median", "first_reply_median"),
  choice("Reply by a person, median", "person_reply_median"),
  choice("Resolution, median", "resolution_median"),
] as const;

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
  const number = choices.find((offered) => offered.metric === metric) ?? choices[0];
  const { label, kind } = number;
  const now = valuesOf(report, number);
  const earlier = valuesOf(before, number);
  const max = Math.max(1, ...[...now, ...earlier].map(Number));
  const title = `${label} by hour of the week`;
  return (
    <>
      <div class="filters">
        <label class="filter">
          <span class="unseen">Number</span>
          <select value={metric} onChange={({ currentTarget }) => setMetric(currentTarget.value as Metric)}>
            {choices.map((offered) => (
              <option key={offered.metric} value={offered.metric}>
                {offered.label}
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
      <HeatTable title={title} timezone={report.timezone} kind={kind} values={now} max={max} />
      <h3 class="heat-title">The range before: {daysOf(before)}</h3>
      <HeatTable
        title={`${title}, the range before`}
        timezone={before.timezone}
        kind={kind}
        values={earlier}
        max={max}
      />
      <DefinitionList of={choices} more={place} />
    </>
  );
}

/** The values by hour of the week. A time is in seconds, and null where nothing was counted. */
type HourValues = readonly (number | null)[];

const valuesOf = ({ rows }: Report, number: ReportNumber): HourValues => rows.map(({ values }) => number.of(values));

const valueAt = (values: HourValues, day: number, hour: number): number | null => values[day * 24 + hour] ?? null;

const daysOf = ({ from, to }: Report): string =>
  from === to ? longDate(from) : `${longDate(from)} to ${longDate(to)}`;

const csvRows = (now: HourValues, earlier: HourValues): readonly (readonly (string | number)[])[] => [
  ["Day", ...hours.map((hour) => `${hour}:00`), ...hours.map((hour) => `${hour}:00 before`)],
  ...days.map((name, day) => [
    name,
    ...[now, earlier].flatMap((values) => hours.map((hour) => valueAt(values, day, hour) ?? "")),
  ]),
];

function HeatTable(props: {
  readonly title: string;
  readonly timezone: string;
  readonly kind: ReportNumber["kind"];
  readonly values: HourValues;
  /** The value of the darkest hour. */
  readonly max: number;
}) {
  const { title, timezone, kind, values, max } = props;
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
                <HeatCell key={hour} kind={kind} value={valueAt(values, day, hour)} max={max} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const HeatCell = (props: {
  readonly kind: ReportNumber["kind"];
  readonly value: number | null;
  readonly max: number;
}) => {
  const { kind, value, max } = props;
  const isNone = value === null || (kind === "count" && value === 0);
  return (
    <td class={`heat-${Math.ceil(((value ?? 0) / max) * levels)}`}>
      {isNone ? <span class="unseen">{shown(kind, value)}</span> : cellText(kind, value)}
    </td>
  );
};

const cellText = (kind: ReportNumber["kind"], value: number): string =>
  kind === "time" ? shortTime(value) : shown(kind, value);

const unitOf = (unit: string, seconds: number) => ({
  seconds,
  text: new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "narrow", maximumFractionDigits: 0 }),
});
const second = unitOf("second", 1);
const longer = [unitOf("day", 86_400), unitOf("hour", 3_600), unitOf("minute", 60)];

/** A time in its largest unit: `25m`. */
function shortTime(value: number): string {
  const { seconds, text } = longer.find((unit) => value >= unit.seconds) ?? second;
  return text.format(value / seconds);
}
