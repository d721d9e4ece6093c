import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Static } from "typebox";
import { Problem } from "#domain/problem.ts";
import { dateOfDay, dayOfDate } from "#domain/reporting/local-time.ts";
import type { Grouping, Metric } from "#domain/reporting/metrics.ts";
import { groupings, metrics, metricsBy } from "#domain/reporting/metrics.ts";
import { storedSettings, timezoneOf } from "#domain/workspace/settings.ts";
import type { Reader } from "#database/contract.ts";
import type { ReportRow } from "#conversations/reporting/report.ts";
import { readReport } from "#conversations/reporting/report.ts";
import { channelLabel } from "#channels/catalog.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

/** Two years and a day: a year can be compared with the one before it. */
const daysMax = 731;

const date = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", allowed: "a date such as 2026-01-31", description });

export const analyticsQuery = Type.Object({
  from: date("The first day, in the workspace's time zone"),
  to: date(`The last day; at most ${daysMax} days after \`from\`, both included`),
  by: Type.Optional(Type.Enum([...groupings], { default: "day", description: "The rows of the report" })),
  metrics: Type.Optional(
    Type.Array(Type.Enum([...metrics], { title: "Metric" }), {
      minItems: 1,
      maxItems: 50,
      description: "May be repeated; absent: all that are counted for `by`",
    }),
  ),
});

const value = schemas.nullable(Type.Number());
const values = Type.Record(Type.String(), value, {
  description: "Values by metric. Times are in seconds, and null where nothing was measured",
});

const analytics = Type.Object(
  {
    timezone: Type.String(),
    from: Type.String(),
    to: Type.String(),
    by: Type.Enum([...groupings]),
    totals: values,
    rows: Type.Array(
      Type.Object({
        key: Type.String({
          description:
            "The date, the hour of the week (0 is Monday from 00:00 to 01:00, 167 is Sunday from 23:00), the channel, the agent's e-mail address, the id of the team, or the tag; empty for the sum of those that are not counted by name",
        }),
        name: Type.String({
          description: "The name of the channel, the agent or the team, else the key; `Others` for an empty key",
        }),
        values,
      }),
      { description: "All days and hours; at most 200 channels, agents, teams or tags, most frequent first" },
    ),
  },
  { title: "Analytics" },
);

/** `GET /v1/analytics`. The dashboard's route uses the same parts. */
export const analyticsDescription = {
  summary: "Read numbers of conversations by day, hour of week, channel, agent, team or tag",
  success: { 200: analytics },
};

const schema = {
  tags: ["Analytics"],
  operationId: "readAnalytics",
  summary: analyticsDescription.summary,
  querystring: Type.Object({ workspace_id: Type.Optional(Type.String()), ...analyticsQuery.properties }),
  response: schemas.responses(analyticsDescription.success, [...schemas.withWorkspaceId]),
};

export function analyticsRoute(app: App, { store }: Resources): void {
  app.get("/analytics", { config: { workspaceId: "optional" }, schema }, (request) =>
    readAnalytics(store.read, request, request.query),
  );
}

export async function readAnalytics(
  db: Reader,
  request: FastifyRequest,
  query: Static<typeof analyticsQuery>,
): Promise<Static<typeof analytics>> {
  const { workspaceId, settings } = callerOf(request);
  const { by = "day" } = query;
  const days = daysOf(query);
  const chosen = metricsOf(by, query.metrics);
  const { totals, rows } = await readReport(db, { workspaceId, days, by, metrics: chosen });
  return {
    timezone: timezoneOf(storedSettings(settings)),
    from: dateOfDay(days.from),
    to: dateOfDay(days.to),
    by,
    totals,
    rows: by === "channel" ? rows.map(withLabel) : [...rows],
  };
}

const withLabel = (row: ReportRow): ReportRow => (row.key === "" ? row : { ...row, name: channelLabel(row.key) });

function daysOf(query: Static<typeof analyticsQuery>) {
  const [from, to] = (["from", "to"] as const).map((name) => {
    const day = dayOfDate(query[name]);
    if (day === undefined) throw new Problem("invalid_parameter", `${name}: there is no such date.`);
    return day;
  }) as [number, number];
  if (to < from) throw new Problem("invalid_parameter", "to: must not be before from.");
  if (to - from >= daysMax) throw new Problem("invalid_parameter", `to: at most ${daysMax} days can be read at once.`);
  return { from, to };
}

function metricsOf(by: Grouping, given: readonly Metric[] | undefined): readonly Metric[] {
  const counted = metricsBy[by];
  const wrong = given?.find((metric) => !counted.includes(metric));
  if (wrong !== undefined) {
    throw new Problem(
      "invalid_parameter",
      `metrics: ${wrong} is not counted by ${by}; these are: ${counted.join(", ")}.`,
    );
  }
  return given === undefined ? counted : [...new Set(given)];
}
