import { chromium } from "playwright-core";
import { startSite, embedding, workspaceId } from "./support/site.ts";
const answer = `You can return any item **within 30 days** of delivery:

1. Open *Orders* and choose the item.
2. Print the label, or show the code at a shop.
3. We refund you within \`5\` working days.

Opened software cannot be returned. See [the returns policy](https://example.com/returns) for details.`;
const sources = [
  { title: "Returns and refunds", url: "https://docs.acme.test/returns", chunk: "Return within 30 days…", score: 0.9 },
  { title: "Warranty handbook for all our very long titled documents (2026 edition).pdf", url: "", chunk: "Items may be returned within 30 days.\nOpened software is excluded.", score: 0.7 },
];
const widgetSite = await startSite(); const hosted = await startSite({ channel: "hosted" });
for (const site of [widgetSite, hosted]) { 
  site.host.answer = (thread, text) => {
    if (/human/.test(text)) { site.host.set(thread, { handledBy: "waiting" }); site.host.say(thread, { role: "assistant", markdown: "I'm passing this conversation to my colleagues. A person will reply to you here." }); }
    else site.host.say(thread, { role: "assistant", markdown: answer, sources });
  };
  site.pages.set("/", embedding(site.origin, "", "<p>Lorem ipsum</p>".repeat(30))); }
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking","--disable-component-update","--disable-sync"] });
const shot = async (name: string, options: object, site = widgetSite, path = "/") => {
  const context = await browser.newContext(options); const page = await context.newPage();
  page.on("console", (m) => console.log(name, m.type(), m.text())); page.on("pageerror", (e) => console.log(name, e));
  await page.goto(site.origin + path);
  if (path === "/") { await page.getByRole("button", { name: "Open chat" }).waitFor(); if (name === "light") { await page.waitForTimeout(400); await page.screenshot({ path: "/tmp/shots/launcher.png" }); } await page.getByRole("button", { name: "Open chat" }).click(); }
  const box = page.getByRole("textbox", { name: /message/ });
  await box.waitFor(); await page.waitForTimeout(300); await page.screenshot({ path: `/tmp/shots/${name}-empty.png` });
  await box.fill("How do I return an item I bought last week?"); await box.press("Enter");
  await page.getByText("within 30 days").first().waitFor();
  await page.waitForTimeout(400); await page.screenshot({ path: `/tmp/shots/${name}.png` });
  await box.fill("I want to talk to a human please"); await box.press("Enter");
  await page.getByText("A person will reply").first().waitFor(); await page.waitForTimeout(300);
  await page.screenshot({ path: `/tmp/shots/${name}-lead.png` });
  const thread = [...site.host.threads.keys()].at(-1) as string;
  site.host.set(thread, { handledBy: "agent", agentName: "Anna Lindqvist", email: "x@y.z" });
  site.host.say(thread, { role: "agent", authorName: "Anna Lindqvist", markdown: "Hi, I'm Anna. I can see your order — shall I start the return for you?" });
  site.host.signal(thread, { kind: "typing", who: { role: "agent", name: "Anna Lindqvist" } });
  await page.getByText("shall I start").waitFor(); await page.waitForTimeout(300);
  await page.screenshot({ path: `/tmp/shots/${name}-agent.png` });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth); if (over > 0) console.log(name, "horizontal scroll", over);
  await context.close();
};
const only = process.argv[2];
const all: [string, object, typeof widgetSite, string][] = [
 ["light", { viewport: { width: 1100, height: 800 } }, widgetSite, "/"],
 ["dark", { viewport: { width: 1100, height: 800 }, colorScheme: "dark" }, widgetSite, "/"],
 ["phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }, widgetSite, "/"],
 ["page", { viewport: { width: 1100, height: 800 } }, hosted, "/chat/" + workspaceId],
 ["narrow", { viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true }, widgetSite, "/"],
];
for (const [n, o, s, p] of all) if (!only || only === n) await shot(n, o, s, p);
await browser.close(); await widgetSite.close(); await hosted.close();
