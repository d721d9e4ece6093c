import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Metric } from "#domain/reporting/metrics.ts";
import { Empty } from "#web/shared/ui/elements.tsx";
import { serverNow } from "#web/shared/ui/time.ts";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useQuery } from "#web/dashboard/store.ts";
import { FilterBar } from "#web/dashboard/ui/filters.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { Breakdown } from "./breakdown.tsx";
import { DayChart } from "./chart.tsx";
import { DefinitionList } from "./definition-list.tsx";
import { definitions } from "./definitions.ts";
import { HourTables, hoursPath } from "./hours.tsx";
import type { Report, ReportNumber } from "./numbers.ts";
import { counted, numbers, shown } from "./numbers.ts";
import type { Range } from "./range.ts";
import { dateIn, longDate, presetOf, presets, rangeOf } from "./range.ts";
import { Tile } from "./tile.tsx";

export const reportsPage: DashboardPage = {
  path: "reports",
  label: "Reports",
  about: "How many conversations there were, who resolved them, and how fast.",
  group: "Insight",
  icon: icons.reports,
  roles: ["admin", "viewer"],
  render: () => <Reports />,
};

interface Reported {
  readonly report: Report;
  readonly before: Report;
}

async function load({ from, to, before }: Range): Promise<Reported> {
  const [report, earlier] = await Promise.all([
    api.get<Report>("analytics", { from, to }),
    api.get<Report>("analytics", { ...before, by: "channel" }),
  ]);
  return { report, before: earlier };
}

function Reports() {
  const [presetText, setPreset] = useQuery("range");
  const [from, setFrom] = useQuery("from");
  const [to, setTo] = useQuery("to");
  // The workspace's time zone comes with the first answer.
  const [timezone, setTimezone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const preset = presetOf(presetText);
  const range = rangeOf(preset, dateIn(timezone, serverNow()), { from, to });
  const resource = useResource(() => load(range), [range.from, range.to]);
  const answered = resource.data?.report.timezone;
  useEffect(() => {
    if (answered !== undefined) setTimezone(answered);
  }, [answered]);
  return (
    <>
      <PageHead
        title="Reports"
        lead={`${longDate(range.from)} to ${longDate(range.to)}, compared with the ${range.days === 1 ? "day" : `${range.days} days`} before. Days in the time zone ${timezone}.`}
      />
      <FilterBar>
        <label class="filter">
          <span class="unseen">Range</span>
          <select value={preset} onChange={({ currentTarget }) => setPreset(currentTarget.value)}>
            {presets.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {preset === "custom" && (
          <>
            <DateField label="From" value={range.from} set={setFrom} />
            <DateField label="To" value={range.to} set={setTo} />
          </>
        )}
      </FilterBar>
      <Loaded of={resource} lines={8}>
        {(data) => (isEmpty(data) ? <NothingYet /> : <Numbers {...data} range={range} />)}
      </Loaded>
    </>
  );
}

const DateField = (props: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}) => (
  <label class="filter date">
    <span>{props.label}</span>
    <input type="date" value={props.value} onChange={({ currentTarget }) => props.set(currentTarget.value)} />
  </label>
);

const isEmpty = ({ report, before }: Reported): boolean =>
  [report, before].every(({ totals }) => Object.values(totals).every((value) => value === 0 || value === null));

const NothingYet = () => (
  <Empty shape={icons.reports} title="Nothing to report in these days">
    <p>Numbers appear as soon as a customer writes.</p>
  </Empty>
);

const {
  conversations,
  messages,
  resolved,
  alone,
  handedOver,
  reopened,
  unanswered,
  firstReply,
  firstReplyP90,
  personReply,
  personReplyP90,
  resolution,
  resolutionP90,
  slaMet,
  slaMissed,
  satisfaction,
  ratings,
  rated,
} = numbers;

const tiles: readonly ReportNumber[] = [
  conversations,
  messages,
  resolved,
  alone,
  handedOver,
  reopened,
  unanswered,
  slaMet,
  slaMissed,
  firstReply,
  firstReplyP90,
  personReply,
  personReplyP90,
  resolution,
  resolutionP90,
];

/** Shown where surveys were sent. */
const surveyTiles: readonly ReportNumber[] = [satisfaction, ratings, rated];

const courses = [
  {
    title: "Conversations by day",
    series: [conversations, resolved, counted("Resolved by the bot alone", "resolved_by_bot"), handedOver],
  },
  {
    title: "Messages by day",
    series: [
      counted("By customers", "messages_by_customers"),
      counted("By the bot", "messages_by_bot"),
      counted("By agents", "messages_by_agents"),
    ],
  },
  {
    title: "Reply by a person by day",
    series: [counted("Median", "person_reply_median"), counted("90th percentile", "person_reply_p90")],
  },
] as const satisfies readonly { readonly title: string; readonly series: readonly ReportNumber[] }[];

const reasons = [
  { label: "The customer asked for a person", metric: "handed_over_asked" },
  { label: "Several answers of low confidence", metric: "handed_over_low_confidence" },
  { label: "Anger", metric: "handed_over_anger" },
  { label: "An automation rule", metric: "handed_over_rule" },
  { label: "An agent, an API client, or not for the bot", metric: "handed_over_other" },
] as const;

const scores = [
  { label: "5, very good", metric: "rated_5" },
  { label: "4", metric: "rated_4" },
  { label: "3", metric: "rated_3" },
  { label: "2", metric: "rated_2" },
  { label: "1, poor", metric: "rated_1" },
] as const;

function Numbers({ report, before, range }: Reported & { readonly range: Range }) {
  const isSurveyed = [report, before].some(({ totals }) => (totals.surveys ?? 0) + (totals.ratings ?? 0) > 0);
  return (
    <>
      <dl class="tiles">
        {[...tiles, ...(isSurveyed ? surveyTiles : [])].map((number) => (
          <Tile key={number.label} number={number} report={report} before={before} />
        ))}
      </dl>
      <Section title="By day">
        {courses.map(({ title, series }) => (
          <DayChart key={title} title={title} series={series} rows={report.rows} />
        ))}
      </Section>
      <Section title="Reasons for hand-overs">
        <Parts
          title="Reasons for hand-overs"
          part="Reason"
          counted="Hand-overs"
          whole="handed_over"
          parts={reasons}
          report={report}
          before={before}
        />
      </Section>
      {isSurveyed && (
        <Section title="Ratings">
          <Parts
            title="Ratings"
            part="Rating"
            counted="Ratings"
            whole="ratings"
            parts={scores}
            report={report}
            before={before}
          />
        </Section>
      )}
      <AfterPaint>
        <Section title="Hours of the week">
          <Hours range={range} />
        </Section>
        <Section title="In detail">
          <Breakdown range={range} />
        </Section>
      </AfterPaint>
    </>
  );
}

/** Draws what is below the charts after them: its numbers are requested, and its cells made, in their time. */
function AfterPaint({ children }: { readonly children: ComponentChildren }) {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    // A frame's callbacks run before its paint, so the timer is set in one.
    let timer: number | undefined;
    const frame = requestAnimationFrame(() => {
      timer = window.setTimeout(() => setPainted(true));
    });
    return () => {
      cancelAnimationFrame(frame);
      window.clearTimeout(timer);
    };
  }, []);
  return isPainted ? <>{children}</> : null;
}

function Hours({ range: { from, to, before } }: { readonly range: Range }) {
  const resource = useResource(async (): Promise<Reported> => {
    const [report, earlier] = await Promise.all([
      api.get<Report>(hoursPath({ from, to })),
      api.get<Report>(hoursPath(before)),
    ]);
    return { report, before: earlier };
  }, [from, to]);
  return <Loaded of={resource}>{(data) => <HourTables {...data} />}</Loaded>;
}

/** A count, divided into its parts. */
function Parts(
  props: Pick<Reported, "report" | "before"> & {
    readonly title: string;
    /** Headers of the first two columns. */
    readonly part: string;
    readonly counted: string;
    readonly whole: Metric;
    readonly parts: readonly { readonly label: string; readonly metric: Metric }[];
  },
) {
  const { report, before, parts } = props;
  const all = report.totals[props.whole] ?? 0;
  return (
    <>
      <DataTable
        caption={props.title}
        rows={parts}
        rowKey={({ metric }) => metric}
        columns={[
          { header: props.part, cell: ({ label }) => label },
          { header: props.counted, align: "end", cell: ({ metric }) => shown("count", report.totals[metric] ?? 0) },
          {
            header: "Share",
            align: "end",
            cell: ({ metric }) => shown("share", all === 0 ? null : (report.totals[metric] ?? 0) / all),
          },
          { header: "Range before", align: "end", cell: ({ metric }) => shown("count", before.totals[metric] ?? 0) },
        ]}
      />
      <DefinitionList of={parts.map(({ label, metric }) => ({ label, about: definitions[metric] }))} />
    </>
  );
}
