import axe from "axe-core";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** What WCAG 2.2 asks for at levels A and AA, as far as a program can tell, and what is good practice beside it. */
const asked = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What is wrong on the page as it is now, shadow trees included; a text for each kind, with the elements. */
export async function barriersOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async (tags): Promise<Pick<AxeResults, "violations">> => {
    const inPage = globalThis as unknown as { readonly axe: { run(options: object): Promise<AxeResults> } };
    return inPage.axe.run({ runOnly: tags, resultTypes: ["violations"] });
  }, asked);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(shown).join("\n")}`);
}

const shown = ({ html, failureSummary = "" }: AxeResults["violations"][number]["nodes"][number]): string =>
  `  ${html.slice(0, 300)}\n    ${failureSummary.replaceAll("\n", "\n    ")}`;
