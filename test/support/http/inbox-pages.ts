import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { TestApp } from "./app.ts";
import { password } from "./inbox.ts";

/** Pages of agents, each in a browser context of its own. */
export interface InboxPages {
  open(agent: "anna" | "ben", options?: BrowserContextOptions, hash?: string): Promise<Page>;
  /** Drops complaints that contain this text, which the test caused on purpose. */
  excuse(text: string): void;
  /** Closes all pages, and returns the errors that they logged. */
  close(): Promise<readonly string[]>;
}

export function createInboxPages(browser: () => Browser, app: () => Pick<TestApp, "url">): InboxPages {
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  return {
    excuse(text) {
      const others = complaints.filter((complaint) => !complaint.includes(text));
      complaints.splice(0, complaints.length, ...others);
    },
    async open(agent, options = {}, hash = "") {
      const { url } = app();
      const context = await browser().newContext({
        viewport: { width: 1280, height: 800 },
        locale: "en-GB",
        ...options,
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on("console", (message) => {
        // The browser also logs a conflict (409), which the page already shows to the agent.
        if (message.type() === "error" && !message.text().includes("409")) complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("request", (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
          complaints.push(`request to another origin: ${request.url()}`);
      });
      await page.goto(`${url}/inbox`);
      await page.getByLabel("E-mail address").fill(`${agent}@shop.example`);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Views" }).getByText("Unassigned").waitFor();
      if (hash !== "") await page.goto(`${url}/inbox${hash}`);
      return page;
    },
    async close() {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      return complaints.splice(0);
    },
  };
}

/** The element that has the focus: its tag, and its name or text. */
export const focusIn = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const node = document.activeElement;
    if (node === null || node === document.body) return "BODY";
    return `${node.tagName} ${node.getAttribute("aria-label") ?? node.textContent ?? ""}`;
  });
