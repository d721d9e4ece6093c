import type { Dimension } from "#domain/reporting/cells.ts";
import { quantile } from "#domain/reporting/duration-buckets.ts";
import { dateOfDay, hourOfWeek } from "#domain/reporting/local-time.ts";
import type { Grouping, Metric } from "#domain/reporting/metrics.ts";
import { counters, durations, quantileOf } from "#domain/reporting/metrics.ts";
import type { Days } from "#domain/reporting/periods.ts";
import { partsOf } from "#domain/reporting/periods.ts";
import type { Reader } from "#database/contract.ts";
import { otherNames } from "./counts.ts";
import { readRows } from "./read-rows.ts";

export interface ReportQuery {
  readonly workspaceId: string;
  readonly days: Days;
  readonly by: Grouping;
  readonly metrics: readonly Metric[];
}

/** A count is 0 where there is none, a time is null. */
export type Values = Readonly<Partial<Record<Metric, number | null>>>;

export interface ReportRow {
  /** The date, the hour of the week, the channel, the agent's address, the team's id or the tag. */
  readonly key: string;
  readonly name: string;
  readonly values: Values;
}

export interface Report {
  readonly totals: Values;
  readonly rows: readonly ReportRow[];
}

/** Rows of a report by agent or tag: those with the largest counts. */
const rowsMax = 200;

const dimensionOf: Readonly<Record<Grouping, Dimension>> = {
  day: "channel",
  hour_of_week: "hour",
  channel: "channel",
  agent: "agent",
  team: "agent",
  tag: "tag",
};

/** Reads a report from the counts of its days, by one statement, and the names of its rows by another. */
export async function readReport(db: Reader, query: ReportQuery): Promise<Report> {
  const { by, workspaceId } = query;
  const dimension = dimensionOf[by];
  // Each count is of one channel and one hour. Not every count is of an agent or a tag.
  const ofAll = dimension === "hour" ? dimension : "channel";
  const { [dimension]: groups = new Map<string, Sums>(), [ofAll]: whole = groups } = await sumsOf(db, query, [
    dimension,
    ofAll,
  ]);
  const totals = valuesOf(merged([...whole.values()]), query.metrics);
  const row = (key: string, name = key === otherNames ? "Others" : key, sums = groups.get(key)): ReportRow => ({
    key,
    name,
    values: valuesOf(sums ?? new Map(), query.metrics),
  });
  if (by === "team") return { totals, rows: await teamRows(db, workspaceId, groups, row) };
  if (by === "agent") {
    const names = await agentNames(db, workspaceId);
    return { totals, rows: largest(groups).map((email) => row(email, names.get(email))) };
  }
  if (by === "day") {
    const { from, to } = query.days;
    return { totals, rows: Array.from({ length: to - from + 1 }, (_, i) => row(dateOfDay(from + i))) };
  }
  if (by === "hour_of_week") return { totals, rows: Array.from({ length: 168 }, (_, hour) => row(String(hour))) };
  return { totals, rows: largest(groups).map((key) => row(key)) };
}

/** Sums by stored metric. */
type Sums = ReadonlyMap<string, number>;
type Groups = ReadonlyMap<string, Sums>;

/** The counts of the dimensions, added up for each group of the report. */
async function sumsOf(
  db: Reader,
  { workspaceId, days, by, metrics }: ReportQuery,
  dimensions: readonly Dimension[],
): Promise<Readonly<Partial<Record<Dimension, Groups>>>> {
  const found: Partial<Record<Dimension, Map<string, Map<string, number>>>> = {};
  const isWanted = wantedOf(metrics);
  const parts = by === "day" ? [{ period: "day", ...days } as const] : partsOf(days);
  for (const row of await readRows(db, { workspaceId, days, parts, dimensions })) {
    const groups = (found[row.dimension] ??= new Map<string, Map<string, number>>());
    const key = groupOf(row, by);
    let sums = groups.get(key);
    if (sums === undefined) groups.set(key, (sums = new Map<string, number>()));
    for (const [metric, value] of Object.entries(row.counts)) {
      if (isWanted(metric)) sums.set(metric, (sums.get(metric) ?? 0) + value);
    }
  }
  return found;
}

function groupOf(
  { period, day, name }: { readonly period: string; readonly day: number; readonly name: string },
  by: Grouping,
): string {
  if (by === "day") return dateOfDay(day);
  // Months have the hours of the week as names.
  return by === "hour_of_week" && period === "day" ? String(hourOfWeek(day, Number(name))) : name;
}

/** Whether a stored metric is needed. */
function wantedOf(metrics: readonly Metric[]): (metric: string) => boolean {
  const wanted = new Set<string>([
    ...counters.filter((counter) => metrics.includes(counter)),
    ...durations.filter((duration) => metrics.some((metric) => quantileOf(metric)?.duration === duration)),
  ]);
  const known = new Map<string, boolean>();
  return (metric) => {
    let isWanted = known.get(metric);
    if (isWanted === undefined) known.set(metric, (isWanted = wanted.has(metric.replace(/:.*/, ""))));
    return isWanted;
  };
}

function valuesOf(sums: Sums, metrics: readonly Metric[]): Values {
  const timed = new Map<string, Map<number, number>>(durations.map((duration) => [duration, new Map()]));
  for (const [metric, count] of sums) {
    const at = metric.indexOf(":");
    if (at > 0) timed.get(metric.slice(0, at))?.set(Number(metric.slice(at + 1)), count);
  }
  return Object.fromEntries(
    metrics.map((metric) => {
      const quantileIs = quantileOf(metric);
      // A resolve that was taken back after a change of the time zone is subtracted from another day.
      if (quantileIs === undefined) return [metric, Math.max(0, sums.get(metric) ?? 0)];
      return [metric, quantile(timed.get(quantileIs.duration) ?? new Map<number, number>(), quantileIs.share)];
    }),
  );
}

function merged(all: readonly Sums[]): Sums {
  const total = new Map<string, number>();
  for (const sums of all) for (const [metric, value] of sums) total.set(metric, (total.get(metric) ?? 0) + value);
  return total;
}

/** The keys of the groups with the largest counts, largest first. */
function largest(groups: Groups): readonly string[] {
  const size = (sums: Sums): number => [...sums.values()].reduce((sum, value) => sum + value, 0);
  return [...groups]
    .map(([key, sums]) => ({ key, size: size(sums) }))
    .filter((group) => group.size > 0)
    .toSorted((a, b) => b.size - a.size || (a.key < b.key ? -1 : 1))
    .slice(0, rowsMax)
    .map(({ key }) => key);
}

async function agentNames(db: Reader, workspaceId: string): Promise<ReadonlyMap<string, string>> {
  const agents = db.selectFrom("agents").select(["email", "name"]).where("workspace_id", "=", workspaceId);
  return new Map((await agents.execute()).map(({ email, name }) => [email, name]));
}

/** The sums of the agents who are members now. */
async function teamRows(
  db: Reader,
  workspaceId: string,
  byAgent: Groups,
  row: (key: string, name: string, sums: Sums) => ReportRow,
): Promise<readonly ReportRow[]> {
  const members = await db
    .selectFrom("teams")
    .leftJoin("team_members", "team_members.team_id", "teams.id")
    .leftJoin("agents", "agents.id", "team_members.agent_id")
    .select(["teams.id", "teams.name", "agents.email"])
    .where("teams.workspace_id", "=", workspaceId)
    .orderBy("teams.name")
    .execute();
  return [...Map.groupBy(members, ({ id }) => id)].map(([id, of]) => {
    const sums = of.flatMap(({ email }) => (email === null ? [] : (byAgent.get(email) ?? [])));
    return row(id, of[0]?.name ?? id, merged(sums));
  });
}
