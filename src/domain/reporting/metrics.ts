import type { HandoverReason } from "#domain/conversation/audit-details.ts";
import { handoverReasons } from "#domain/conversation/audit-details.ts";

const handedOverFor = (reason: HandoverReason) => `handed_over_${reason}` as const;

const ofRatings = ["surveys", "ratings", "rated_1", "rated_2", "rated_3", "rated_4", "rated_5"] as const;

/** Counted events. docs/reports.md defines each. */
export const counters = [
  "conversations",
  "messages_by_customers",
  "messages_by_bot",
  "messages_by_agents",
  "unanswered",
  "assigned",
  "handed_over",
  ...handoverReasons.map(handedOverFor),
  "resolved",
  "resolved_by_bot",
  "reopened",
  "sla_met",
  "sla_missed",
  ...ofRatings,
] as const;
export type Counter = (typeof counters)[number];

/** Durations whose median and 90th percentile are reported. */
export const durations = ["first_reply", "person_reply", "resolution"] as const;
export type Duration = (typeof durations)[number];

export const counterOfReason = (reason: HandoverReason): Counter => handedOverFor(reason);

const quantiles = { median: 0.5, p90: 0.9 } as const;
type Quantile = keyof typeof quantiles;
type TimedMetric = `${Duration}_${Quantile}`;

const timedMetrics = durations.flatMap((duration): readonly TimedMetric[] => [`${duration}_median`, `${duration}_p90`]);

/** Numbers of a report. Times are in seconds. */
export const metrics = [...counters, ...timedMetrics] as const;
export type Metric = Counter | TimedMetric;

/** The duration and the share of a metric that is a quantile. */
export function quantileOf(metric: Metric): { readonly duration: Duration; readonly share: number } | undefined {
  for (const duration of durations) {
    for (const [name, share] of Object.entries(quantiles)) {
      if (metric === `${duration}_${name}`) return { duration, share };
    }
  }
  return undefined;
}

export const groupings = ["day", "hour_of_week", "channel", "agent", "team", "tag"] as const;
export type Grouping = (typeof groupings)[number];

const timesOf = (...of: readonly Duration[]): readonly Metric[] =>
  timedMetrics.filter((metric) => of.some((duration) => metric.startsWith(duration)));

const ofAgents: readonly Metric[] = [
  "messages_by_agents",
  "assigned",
  "resolved",
  "reopened",
  "sla_met",
  "sla_missed",
  ...ofRatings,
  ...timesOf("person_reply", "resolution"),
];

const notOfTags: ReadonlySet<Metric> = new Set([
  "messages_by_customers",
  "messages_by_bot",
  "messages_by_agents",
  "unanswered",
  ...timesOf("first_reply"),
]);

/** The metrics that are counted for a grouping. */
export const metricsBy: Readonly<Record<Grouping, readonly Metric[]>> = {
  day: metrics,
  hour_of_week: metrics,
  channel: metrics,
  agent: ofAgents,
  team: ofAgents,
  tag: metrics.filter((metric) => !notOfTags.has(metric)),
};
