import type { BrowserContext, Page } from "playwright-core";

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
