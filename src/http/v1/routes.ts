import multipart from "@fastify/multipart";
import type { App } from "#http/app-type.ts";
import type { InFlight } from "#http/middleware/in-flight.ts";
import { handleError } from "#http/problem.ts";
import "#http/middleware/request-state.ts";
import { analyticsRoute } from "./analytics.ts";
import { requireAccess } from "./access/access.ts";
import { contactRoutes } from "./contacts/contacts.ts";
import { conversationRoutes } from "./conversations/conversations.ts";
import { documentRoutes } from "./documents/documents.ts";
import { formLimits } from "./documents/form.ts";
import { queryRoutes } from "./query/query.ts";
import { checkRequests } from "./request-checks.ts";
import type { Resources } from "./resources.ts";
import { createRouteTable } from "./route-table.ts";

/** The API below /v1: access, checks that all routes share, and the resources. */
export async function v1(app: App, resources: Resources, inFlight: InFlight): Promise<void> {
  const { store, clock, limits } = resources;
  const routes = createRouteTable(app);
  requireAccess(app, { store, clock, limits, inFlight, routes });
  checkRequests(app, store.read);
  app.setErrorHandler((error, request, reply) => handleError(error, request, reply));
  app.setNotFoundHandler((request, reply) => handleError(routes.refusal(request), request, reply));
  await app.register(multipart, { limits: formLimits, throwFileSizeLimit: false });

  conversationRoutes(app, resources);
  queryRoutes(app, resources);
  documentRoutes(app, resources);
  contactRoutes(app, resources);
  analyticsRoute(app, resources);
}
