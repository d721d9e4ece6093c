import { existsSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { chromium } from "playwright-core";

const program = process.env["TEST_CHROMIUM"] ?? "/usr/bin/chromium";

export const noBrowser = existsSync(program)
  ? undefined
  : "no Chromium is installed; install chromium, or name one in TEST_CHROMIUM";

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Watched {
  readonly page: Page;
  /** Addresses of everything the page asked for. */
  readonly requested: string[];
  readonly dialogs: string[];
  /** Errors that nothing caught, and what the content security policy stopped. */
  readonly errors: string[];
}

export async function openPage(context: BrowserContext, address: string): Promise<Watched> {
  const page = await context.newPage();
  const watched: Watched = { page, requested: [], dialogs: [], errors: [] };
  page.on("request", (request) => watched.requested.push(request.url()));
  page.on("dialog", (dialog) => {
    watched.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => watched.errors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/u.test(message.text())) watched.errors.push(message.text());
  });
  await page.goto(address);
  return watched;
}
