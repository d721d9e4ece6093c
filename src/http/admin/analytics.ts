import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { analyticsDescription, analyticsQuery, readAnalytics } from "#http/v1/analytics.ts";
import type { Resources } from "#http/v1/resources.ts";

const schema = {
  tags: ["Administration"],
  operationId: "readReports",
  summary: analyticsDescription.summary,
  querystring: analyticsQuery,
  response: adminResponses(analyticsDescription.success, []),
};

/** The numbers of `GET /v1/analytics`, for the dashboard. */
export function adminAnalyticsRoute(app: App, { store }: Resources): void {
  app.get("/analytics", { config: { least: "viewer" }, schema }, (request) =>
    readAnalytics(store.read, request, request.query),
  );
}
