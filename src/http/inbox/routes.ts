import cookie from "@fastify/cookie";
import type { App } from "#http/app-type.ts";
import type { Bodies } from "#http/middleware/bodies/bodies.ts";
import { parseBodies } from "#http/middleware/bodies/bodies.ts";
import type { InboxDependencies } from "./dependencies.ts";
import { createLiveEvents } from "./events.ts";
import { createAsset, sendPage } from "#http/browser-pages.ts";
import { shell } from "./pages.ts";
import { answerError } from "./refusal.ts";
import { actionRoutes } from "./resources/actions.ts";
import { agentOf, createAgentRequests, requireSession } from "./resources/agent-requests.ts";
import { conversationRoutes } from "./resources/conversations.ts";
import { fileRoutes } from "./resources/files.ts";
import { macroRoutes } from "./resources/macros.ts";
import { messageRoutes } from "./resources/messages.ts";
import { hidden } from "./resources/schemas.ts";
import { teamRoutes } from "./resources/team.ts";
import { registerInvitations } from "#http/sign-in/invitation.ts";
import { mustSetUpSecondFactor, requireSameOrigin, sessionToken, signedIn } from "#http/sign-in/session.ts";
import { formBytesMax } from "#http/sign-in/entrance.ts";
import { registerProviders } from "#http/sign-in/provider/routes.ts";
import { registerPasswordReset } from "#http/sign-in/reset.ts";
import { registerSignIn } from "#http/sign-in/sign-in.ts";

/** Adds the agents' inbox below `/inbox`: its pages, its sign-in, and the JSON and events that its script needs. */
export async function registerInbox(app: App, dependencies: InboxDependencies, bodies: Bodies): Promise<void> {
  await app.register(async (scope: App) => inbox(scope, dependencies, bodies), { prefix: "/inbox" });
}

async function inbox(scope: App, dependencies: InboxDependencies, bodies: Bodies): Promise<void> {
  const { store, clock, options } = dependencies;
  const assets = dependencies.assets ?? new URL("../../../dist/", import.meta.url);
  await scope.register(cookie);
  scope.setErrorHandler(answerError);
  parseBodies(
    scope,
    bodies,
    "application/x-www-form-urlencoded",
    (_request, body, done) => done(null, new URLSearchParams(body.toString())),
    () => formBytesMax,
  );
  const secure = options.publicUrl.startsWith("https:");
  scope.addHook("onRequest", async (request, reply) => {
    if (secure) void reply.header("strict-transport-security", "max-age=31536000");
    if (request.method !== "GET" && request.method !== "HEAD") requireSameOrigin(request, options.publicUrl);
  });

  scope.get("/app.js", hidden, createAsset(new URL("inbox.js", assets), "text/javascript; charset=utf-8"));
  scope.get("/app.css", hidden, createAsset(new URL("inbox.css", assets), "text/css; charset=utf-8"));
  scope.get("/", hidden, async (request, reply) => {
    const agent = await signedIn(store, clock, request);
    if (agent === undefined) return reply.redirect("/inbox/login", 303);
    return (await mustSetUpSecondFactor(store, agent))
      ? reply.redirect("/dashboard/account", 303)
      : sendPage(reply, 200, shell);
  });
  registerSignIn(scope, dependencies);
  registerProviders(scope, dependencies);
  registerPasswordReset(scope, dependencies);
  registerInvitations(scope, dependencies);
  await scope.register(async (api: App) => inboxApi(api, dependencies), { prefix: "/api" });
}

async function inboxApi(api: App, dependencies: InboxDependencies): Promise<void> {
  const { store, clock, engine, fanout, log } = dependencies;
  const requests = createAgentRequests(dependencies);
  requireSession(api, dependencies);
  teamRoutes(api, dependencies, requests);
  conversationRoutes(api, dependencies, requests);
  actionRoutes(api, engine, requests);
  messageRoutes(api, engine, requests);
  macroRoutes(api, dependencies, requests);
  await fileRoutes(api, dependencies);

  const events = createLiveEvents(store.read, fanout, clock, log);
  api.addHook("preClose", async () => events.close());
  api.get("/events", hidden, (request, reply) => {
    const isSignedIn = async (): Promise<boolean> => (await signedIn(store, clock, request)) !== undefined;
    events.open(reply, agentOf(request), sessionToken(request) ?? "", isSignedIn);
  });
}
