import type { Branding } from "../../../frames.ts";
import { avatar, el } from "../dom.ts";

/** Returns a function that gives the greeting's row, the same node until the greeting changes. */
export function createGreeting(): (branding: Branding) => HTMLElement {
  let shown: { readonly greeting: string; readonly botName: string; readonly node: HTMLElement } | undefined;
  return ({ greeting, botName }) => {
    if (shown?.greeting !== greeting || shown.botName !== botName) {
      const bubble = el("div", { class: "bubble", dir: "auto" }, el("p", {}, greeting));
      const body = el("div", { class: "body" }, bubble);
      const node = el("div", { class: "row bot first last greeting" }, avatar("assistant", botName), body);
      shown = { greeting, botName, node };
    }
    return shown.node;
  };
}
