import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { isFullTier } from "./tier.ts";

/** The rules of WCAG 2.2 at levels A and AA that a program can check, and axe's best practices. */
const ruleTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The rules that depend on colours. They take half of the time. */
const colourRules = ["color-contrast", "link-in-text-block"];

const options = {
  all: { runOnly: ruleTags },
  /** For another colour scheme of a page that was checked. */
  colours: { runOnly: { type: "rule", values: colourRules } },
  /** For another size of it. */
  layout: { runOnly: ruleTags, rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])) },
};

/** Colours that are on their way to those of another colour scheme count as they end. */
const coloursSettled = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const nextFrame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
    await nextFrame();
    await nextFrame();
    const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  });

const isDark = (page: Page): Promise<boolean> =>
  page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);

/**
 * Returns one text for each kind of violation on the current page, shadow trees included, with the elements. The short
 * tier checks dark pages for their colours only, since the same pages are checked in light.
 */
export async function accessibilityViolations(page: Page, given?: keyof typeof options): Promise<readonly string[]> {
  const part = given ?? (isFullTier || !(await isDark(page)) ? "all" : "colours");
  await coloursSettled(page);
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async (rules): Promise<Pick<AxeResults, "violations">> => {
    const inPage = globalThis as unknown as { readonly axe: { run(options: object): Promise<AxeResults> } };
    return inPage.axe.run({ ...rules, resultTypes: ["violations"] });
  }, options[part]);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(describeNode).join("\n")}`);
}

const describeNode = ({ html, failureSummary = "" }: AxeResults["violations"][number]["nodes"][number]): string =>
  `  ${html.slice(0, 300)}\n    ${failureSummary.replaceAll("\n", "\n    ")}`;
