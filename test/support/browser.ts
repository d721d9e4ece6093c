import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
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
