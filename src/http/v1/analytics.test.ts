import { afterAll, beforeAll, expect, it } from "vitest";
import type { Dimension } from "#domain/reporting/cells.ts";
import { bucketOf } from "#domain/reporting/duration-buckets.ts";
import { dayOfDate } from "#domain/reporting/local-time.ts";
import { foldChanges } from "#conversations/reporting/changes.ts";
import { createTeam } from "#admin/team/teams.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { storeCells } from "#test/support/database/report-rows.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

interface Analytics {
  readonly timezone: string;
  readonly totals: Readonly<Record<string, number | null>>;
  readonly rows: readonly { readonly key: string; readonly name: string; readonly values: Analytics["totals"] }[];
}

const minuteMs = 60_000;

eachDatabase("GET /v1/analytics", (open) => {
  let app: TestApp;
  let anna: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open, { settings: { timezone: "Europe/Berlin" } });
    anna = await dashboardUser(app, "agent", { name: "anna" });
    await count("2026-01-05", "channel", "widget", { conversations: 3, resolved: 2 });
    await count("2026-01-05", "channel", "telegram", { conversations: 1 });
    await count("2026-01-07", "channel", "widget", { conversations: 5, [`resolution:${bucketOf(minuteMs)}`]: 9 });
    await count("2026-01-07", "channel", "telegram", { [`resolution:${bucketOf(60 * minuteMs)}`]: 1 });
    await count("2026-01-07", "hour", "9", { conversations: 5, [`resolution:${bucketOf(minuteMs)}`]: 9 });
    await count("2026-01-07", "agent", anna.email, { resolved: 2, assigned: 4 });
    await count("2026-01-07", "agent", "gone@shop.example", { resolved: 7 });
    await count("2026-01-07", "tag", "refund", { conversations: 2 });
    await count("2026-02-01", "channel", "widget", { conversations: 100 });
  });
  afterAll(() => app.close());

  async function count(date: string, dimension: Dimension, name: string, counts: Readonly<Record<string, number>>) {
    const day = dayOfDate(date) ?? Number.NaN;
    const cells = Object.entries(counts).map(([metric, value]) => ({ dimension, day, name, metric, value }));
    await app.store.write((tx) => storeCells(tx, app.workspace.id, cells));
  }

  async function read(query: string, range = "from=2026-01-05&to=2026-01-11"): Promise<Analytics> {
    const { status, body } = await app.call("GET", `/v1/analytics?${range}&${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body as unknown as Analytics;
  }

  const nonzero = ({ rows }: Analytics, metric: string) =>
    Object.fromEntries(rows.flatMap(({ name, values }) => (values[metric] ? [[name, values[metric]]] : [])));

  it("adds up the days of the range, each of which is a row", async () => {
    const found = await read("metrics=conversations&metrics=resolved");
    expect(found).toMatchObject({ timezone: "Europe/Berlin", totals: { conversations: 9, resolved: 2 } });
    expect(found.rows).toHaveLength(7);
    expect(nonzero(found, "conversations")).toEqual({ "2026-01-05": 4, "2026-01-07": 5 });
  });

  it("groups by channel, hour of the week, agent, team and tag", async () => {
    expect(nonzero(await read("by=channel"), "conversations")).toEqual({ "Website chat": 8, Telegram: 1 });
    expect(nonzero(await read("by=hour_of_week"), "conversations")).toEqual({ [String(2 * 24 + 9)]: 5 });
    expect(nonzero(await read("by=agent"), "resolved")).toEqual({ anna: 2, "gone@shop.example": 7 });
    expect(nonzero(await read("by=tag"), "conversations")).toEqual({ refund: 2 });
    const by = { type: "agent", id: anna.email, name: "anna" } as const;
    await createTeam(app.store, app.clock, { workspaceId: app.workspace.id, by, name: "Sales", agentIds: [anna.id] });
    await createTeam(app.store, app.clock, { workspaceId: app.workspace.id, by, name: "Empty", agentIds: [] });
    const teams = await read("by=team");
    expect(nonzero(teams, "assigned")).toEqual({ Sales: 4 });
    expect(teams.rows.map(({ name }) => name)).toEqual(["Empty", "Sales"]);
    expect(teams.totals["resolved"]).toBe(2);
  });

  it("gives times in seconds, over all channels, and null where nothing was measured", async () => {
    const { totals } = await read("by=day");
    expect(totals["resolution_median"]).toBeGreaterThan(57);
    expect(totals["resolution_median"]).toBeLessThan(63);
    expect(totals["resolution_p90"]).toBe(totals["resolution_median"]);
    expect(totals["first_reply_median"]).toBeNull();
    const hours = nonzero(await read("by=hour_of_week"), "resolution_median");
    expect(hours).toEqual({ [String(2 * 24 + 9)]: totals["resolution_median"] });
    const telegram = (await read("by=channel")).rows.find(({ key }) => key === "telegram");
    expect(telegram?.values["resolution_p90"]).toBeGreaterThan(3_400);
  });

  it("has a change at once, and the same after it was added to the counts", async () => {
    const date = new Intl.DateTimeFormat("en-CA", { timeZone: "Europe/Berlin" }).format(app.clock.now());
    const query = { workspace_id: app.workspace.id, query: "How long does delivery take?" };
    expect((await app.call("POST", "/v1/query", { body: query })).status).toBe(200);
    const before = await read("by=channel", `from=${date}&to=${date}`);
    expect(before.totals).toMatchObject({ conversations: 1, messages_by_customers: 1, messages_by_bot: 1 });
    await foldChanges(app.store);
    expect(await read("by=channel", `from=${date}&to=${date}`)).toEqual(before);
  });

  it("refuses ranges and metrics that it cannot read, and says which it can", async () => {
    for (const [query, detail] of [
      ["from=2026-01-02&to=2026-01-01", "to: must not be before"],
      ["from=2026-02-30&to=2026-03-01", "from: there is no such date"],
      ["from=2020-01-01&to=2026-01-01", "at most 731 days"],
      ["from=2026-01-01&to=2026-01-02&by=tag&metrics=unanswered", "unanswered is not counted by tag"],
      ["from=2026-01-01&to=2026-01-02&metrics=profit", "metrics"],
      ["from=2026-01-01&to=2026-01-02&form=1", "form"],
    ] as const) {
      const { status, body } = await app.call("GET", `/v1/analytics?${query}`);
      expect([status, body], query).toMatchObject([422, { code: "invalid_parameter" }]);
      expect(body.detail).toContain(detail);
    }
    expect((await app.call("GET", "/v1/analytics?from=2026-01-01")).body.code).toBe("missing_field");
  });

  it("gives the same numbers to viewers in the dashboard, and those of a workspace to its agents only", async () => {
    const path = "analytics?from=2026-01-05&to=2026-01-11&by=channel";
    const viewer = await dashboardUser(app, "viewer");
    const shown = await viewer.call("GET", path);
    expect(shown.body).toEqual(await read("by=channel"));
    const other = await app.createWorkspace();
    const admin = await dashboardUser(app, "admin", { workspaceId: other.id });
    expect((await admin.call("GET", path)).body).toMatchObject({ rows: [], totals: { conversations: 0 } });
  });
});
