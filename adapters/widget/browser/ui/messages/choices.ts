import { button } from "../dom.ts";

/** Makes buttons of the last numbered list. A choice is sent as the customer's message. */
export function offerChoices(bubble: HTMLElement, choose: (text: string) => void): void {
  const list = [...bubble.querySelectorAll("ol")].at(-1);
  for (const item of list?.children ?? []) {
    const text = item.textContent.trim();
    item.replaceChildren(button({ class: "choice" }, () => choose(text), text));
  }
}
