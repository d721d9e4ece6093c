import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { DashboardUser } from "./administrators.ts";
import type { TestApp } from "./app.ts";

export const phone = { width: 390, height: 780 };

/** Pages of the dashboard in a browser. Errors and warnings of the page, and requests to other servers, are collected. */
export function createDashboardPages(browser: () => Browser, app: () => TestApp) {
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  return {
    /** Opens `/dashboard` and the path after it, in the user's session. */
    async open(user: DashboardUser, path = "", options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser().newContext({ reducedMotion: "reduce", locale: "en-GB", ...options });
      contexts.push(context);
      const { origin } = new URL(app().url);
      context.on("request", (request) => {
        const url = new URL(request.url());
        if (/^(?:https?|wss?):$/u.test(url.protocol) && url.origin !== origin)
          complaints.push(`request to ${url.origin}`);
      });
      const [name = "", value = ""] = user.cookie.split("=");
      await context.addCookies([{ name, value, url: app().url }]);
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        // A refused request is shown by the page, and reported by the browser as well.
        const isRefused = message.text().startsWith("Failed to load resource: the server responded with a status of 4");
        if (["error", "warning"].includes(message.type()) && !isRefused) complaints.push(message.text());
      });
      await page.goto(`${app().url}/dashboard${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      return page;
    },
    /** Closes all pages, and returns their complaints. */
    async close(): Promise<readonly string[]> {
      for (const context of contexts.splice(0)) await context.close();
      return complaints.splice(0);
    },
  };
}
