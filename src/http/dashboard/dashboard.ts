import cookie from "@fastify/cookie";
import { browserPage, createAsset, sendPage } from "#http/browser-pages.ts";
import type { App } from "#http/app-type.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { Problem } from "#domain/problem.ts";
import { signedIn } from "#http/sign-in/session.ts";
import type { InstalledRoute } from "./installed.ts";
import { registerInstalled } from "./installed.ts";
import { sendWidgetPreview } from "./widget-preview.ts";

const hidden = { schema: { hide: true } };

/** The page that the dashboard's script fills. Its data come from `/admin/v1`. */
const shell = browserPage(
  "Dashboard",
  `<div id="dashboard"><noscript><main class="door"><h1>Dashboard</h1><p>The dashboard needs JavaScript. Please allow it for this page and load it again.</p></main></noscript></div>
<script src="/dashboard/app.js" defer></script>`,
  "dashboard",
);

/** Adds `/dashboard`. Each page of it has an address of its own, which the script reads. */
export async function registerDashboard(
  app: App,
  dependencies: InstalledRoute & Pick<HttpDependencies, "assets">,
): Promise<void> {
  const { store, clock, options, assets } = dependencies;
  const folder = assets ?? new URL("../../../dist/", import.meta.url);
  const secure = options.publicUrl.startsWith("https:");
  await app.register(
    async (scope: App) => {
      await scope.register(cookie);
      scope.addHook("onRequest", async (_request, reply) => {
        if (secure) void reply.header("strict-transport-security", "max-age=31536000");
      });
      scope.get("/app.js", hidden, createAsset(new URL("dashboard.js", folder), "text/javascript; charset=utf-8"));
      scope.get("/app.css", hidden, createAsset(new URL("dashboard.css", folder), "text/css; charset=utf-8"));
      scope.get("/widget-preview", hidden, async (request, reply) => {
        const agent = await signedIn(store, clock, request);
        if (agent === undefined) throw new Problem("signed_out", "Sign in at /inbox/login.");
        return sendWidgetPreview(reply, agent.workspace_id);
      });
      registerInstalled(scope, dependencies);
      for (const path of ["/", "/*"]) {
        scope.get(path, hidden, async (request, reply) =>
          (await signedIn(store, clock, request)) === undefined
            ? reply.redirect(`/inbox/login?to=${encodeURIComponent(request.originalUrl)}`, 303)
            : sendPage(reply, 200, shell, { frames: true }),
        );
      }
    },
    { prefix: "/dashboard" },
  );
}
