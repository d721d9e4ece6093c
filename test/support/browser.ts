import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { chromium } from "playwright-core";

/** The headless shell opens a page in half of the time. */
const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const program = [process.env["TEST_CHROMIUM"], ...installed].find((path) => path !== undefined && existsSync(path));

export const noBrowser =
  program === undefined
    ? "no Chromium is installed; install chromium-headless-shell, or name one in TEST_CHROMIUM"
    : undefined;

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(program === undefined ? {} : { executablePath: program }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
