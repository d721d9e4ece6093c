import type { Metric } from "#domain/reporting/metrics.ts";
import { span } from "#web/shared/ui/time.ts";
import { definitions } from "./definitions.ts";

export type Values = Readonly<Partial<Record<Metric, number | null>>>;

/** A row of the answer of `/admin/v1/analytics`. */
export interface ReportRow {
  readonly key: string;
  readonly name: string;
  readonly values: Values;
}

export interface Report {
  readonly timezone: string;
  readonly from: string;
  readonly to: string;
  readonly totals: Values;
  readonly rows: readonly ReportRow[];
}

/** A number of the page, with its definition. */
export interface ReportNumber {
  readonly label: string;
  /** The label as the header of a narrow column. */
  readonly short?: string;
  readonly about: string;
  readonly kind: "count" | "time" | "share";
  /** The page that shows what is counted. */
  readonly page?: { readonly path: string; readonly label: string };
  /** Whether more or less of it is better; absent: neither. */
  readonly better?: "more" | "less";
  readonly of: (values: Values) => number | null;
}

const count =
  (...metrics: readonly Metric[]) =>
  (values: Values): number =>
    metrics.reduce((sum, metric) => sum + (values[metric] ?? 0), 0);

const time =
  (metric: Metric) =>
  (values: Values): number | null =>
    values[metric] ?? null;

/** Null without any. */
const share =
  (part: readonly Metric[], whole: readonly Metric[]) =>
  (values: Values): number | null => {
    const all = count(...whole)(values);
    return all === 0 ? null : count(...part)(values) / all;
  };

const messages = ["messages_by_customers", "messages_by_bot", "messages_by_agents"] as const;

export const numbers = {
  conversations: {
    label: "Conversations",
    about: definitions.conversations,
    kind: "count",
    of: count("conversations"),
  },
  messages: {
    label: "Messages",
    about: definitions.messages_by_customers,
    kind: "count",
    of: count(...messages),
  },
  resolved: {
    label: "Resolved",
    about: definitions.resolved,
    kind: "count",
    better: "more",
    of: count("resolved"),
  },
  alone: {
    label: "Resolved by the bot alone",
    short: "By the bot",
    about: `${definitions.resolved_by_bot} Shown as their share of the resolved ones.`,
    kind: "share",
    better: "more",
    of: share(["resolved_by_bot"], ["resolved"]),
  },
  handedOver: {
    label: "Handed over",
    about: definitions.handed_over,
    kind: "count",
    better: "less",
    of: count("handed_over"),
  },
  reopened: {
    label: "Reopened",
    about: definitions.reopened,
    kind: "count",
    better: "less",
    of: count("reopened"),
  },
  unanswered: {
    label: "Unanswered questions",
    short: "Unanswered",
    about: definitions.unanswered,
    page: { path: "answers", label: "See the questions" },
    kind: "count",
    better: "less",
    of: count("unanswered"),
  },
  firstReply: {
    label: "First reply, median",
    short: "First reply",
    about: definitions.first_reply_median,
    kind: "time",
    better: "less",
    of: time("first_reply_median"),
  },
  firstReplyP90: {
    label: "First reply, 90th percentile",
    about: definitions.first_reply_p90,
    kind: "time",
    better: "less",
    of: time("first_reply_p90"),
  },
  personReply: {
    label: "Reply by a person, median",
    short: "Reply",
    about: definitions.person_reply_median,
    kind: "time",
    better: "less",
    of: time("person_reply_median"),
  },
  personReplyP90: {
    label: "Reply by a person, 90th percentile",
    about: definitions.person_reply_p90,
    kind: "time",
    better: "less",
    of: time("person_reply_p90"),
  },
  resolution: {
    label: "Resolution, median",
    short: "Resolution",
    about: definitions.resolution_median,
    kind: "time",
    better: "less",
    of: time("resolution_median"),
  },
  resolutionP90: {
    label: "Resolution, 90th percentile",
    about: definitions.resolution_p90,
    kind: "time",
    better: "less",
    of: time("resolution_p90"),
  },
  slaMet: {
    label: "SLA met",
    about: `${definitions.sla_met} Shown as their share of all resolved conversations.`,
    kind: "share",
    better: "more",
    of: share(["sla_met"], ["sla_met", "sla_missed"]),
  },
  slaMissed: {
    label: "SLA missed",
    about: definitions.sla_missed,
    kind: "count",
    better: "less",
    of: count("sla_missed"),
  },
  satisfaction: {
    label: "Satisfied",
    about: `${definitions.ratings} Shown as the share of those with 4 or 5.`,
    kind: "share",
    better: "more",
    of: share(["rated_4", "rated_5"], ["ratings"]),
  },
  ratings: {
    label: "Ratings",
    about: definitions.ratings,
    kind: "count",
    of: count("ratings"),
  },
  rated: {
    label: "Surveys answered",
    short: "Answered",
    about: `${definitions.surveys} Shown as the share of those that were answered.`,
    kind: "share",
    better: "more",
    of: share(["ratings"], ["surveys"]),
  },
} as const satisfies Readonly<Record<string, ReportNumber>>;

const isTime = (metric: Metric): boolean => metric.endsWith("_median") || metric.endsWith("_p90");

export const counted = (label: string, metric: Metric): ReportNumber => ({
  label,
  about: definitions[metric],
  kind: isTime(metric) ? "time" : "count",
  of: (values) => values[metric] ?? (isTime(metric) ? null : 0),
});

const whole = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const seconds = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A value for people. Null is a dash. */
export function shown(kind: ReportNumber["kind"], value: number | null): string {
  if (value === null) return "–";
  if (kind === "share") return percent.format(value);
  if (kind === "count") return whole.format(value);
  return value < 120 ? `${seconds.format(value)} s` : span(value * 1_000);
}

/** The change of a number, in words. Undefined if there is nothing to compare. */
export function changeOf(
  now: number | null,
  before: number | null,
): { readonly text: string; readonly by: number } | undefined {
  if (now === null || before === null || before === 0) return undefined;
  const by = (now - before) / before;
  if (Math.abs(by) < 0.0005) return { text: "as before", by: 0 };
  return { text: `${percent.format(Math.abs(by))} ${by > 0 ? "more" : "less"}`, by };
}
