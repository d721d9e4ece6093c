import { useState } from "preact/hooks";
import type { Metric } from "#domain/reporting/metrics.ts";
import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { saveCsv } from "./csv.ts";
import { DefinitionList } from "./definition-list.tsx";
import { definitions, place } from "./definitions.ts";
import type { Report } from "./numbers.ts";
import { shown } from "./numbers.ts";

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
export const hoursPath = (from: string, to: string): string =>
  `analytics?${new URLSearchParams([
    ["from", from],
    ["to", to],
    ["by", "hour_of_week"],
    ...choices.map(({ metric }): [string, string] => ["metrics", metric]),
  ])}`;

/** The hours of the week as a table: darker hours have more. */
export function HourTable({ report }: { readonly report: Report }) {
  const [metric, setMetric] = useState<Metric>("conversations");
  const { label } = choices.find((choice) => choice.metric === metric) ?? choices[0];
  const values = report.rows.map((row) => row.values[metric] ?? 0);
  const max = Math.max(1, ...values);
  const valueAt = (day: number, hour: number): number => values[day * 24 + hour] ?? 0;
  const save = (): void =>
    saveCsv(`${label} by hour of week`, [
      ["Day", ...hours.map((hour) => `${hour}:00`)],
      ...days.map((name, day) => [name, ...hours.map((hour) => valueAt(day, hour))]),
    ]);
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
        <Button label="Save as CSV" kind="secondary" shape={icons.download} onClick={save} />
      </div>
      {/* The table scrolls sideways on phones. */}
      <div class="table-frame heat-frame" tabIndex={0} role="region" aria-label={`${label} by hour of the week`}>
        <table class="heat">
          <caption class="unseen">
            {label} by hour of the week, in the time zone {report.timezone}
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
                {hours.map((hour) => {
                  const value = valueAt(day, hour);
                  return (
                    <td key={hour} class={`heat-${Math.ceil((value / max) * levels)}`}>
                      {value === 0 ? <span class="unseen">0</span> : shown("count", value)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <DefinitionList of={choices.map((choice) => ({ ...choice, about: definitions[choice.metric] }))} more={place} />
    </>
  );
}
