import { chromium } from "playwright-core";
import { startSite, workspaceId } from "./support/site.ts";
import { demoPage } from "../../../src/web/demo.ts";
const site = await startSite(); site.pages.set("/demo", demoPage({ workspaceId }));
site.host.answer = (t) => site.host.say(t, { role: "assistant", markdown: "Yes. It is **so**." });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--disable-gpu"] });
for (const [n, o] of [["demo", { viewport: { width: 1280, height: 900 } }], ["demo-dark", { viewport: { width: 1280, height: 900 }, colorScheme: "dark" as const }], ["demo-phone", { viewport: { width: 390, height: 844 }, isMobile: true }]] as const) {
  const page = await browser.newPage(o); page.on("console", (m) => console.log(n, m.text()));
  await page.goto(site.origin + "/demo"); await page.getByRole("button", { name: "Open chat" }).waitFor(); await page.waitForTimeout(400);
  await page.screenshot({ path: `/tmp/shots/${n}.png` });
  if (n === "demo") { await page.getByRole("button", { name: "What is Parley?" }).click(); await page.getByText("It is so").waitFor(); await page.waitForTimeout(300); await page.screenshot({ path: `/tmp/shots/${n}-asked.png` }); }
}
await browser.close(); await site.close();
