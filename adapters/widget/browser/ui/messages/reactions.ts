import type { AgentReactionSign } from "#domain/conversation/reaction.ts";
import { agentReactions } from "#domain/conversation/reaction.ts";
import type { ChatMessage } from "../../session/chat-message.ts";
import { button, el, icon } from "../dom.ts";
import type { Strings } from "../strings.ts";
import { fill } from "../strings.ts";

/** The reaction below a message. */
export interface Reactions {
  readonly element: HTMLElement;
  render(reaction: ChatMessage["reaction"]): void;
}

/** The company's, at a message of the customer. */
export function createShownReaction(strings: Strings): Reactions {
  const element = el("span", { class: "reaction" });
  let shown = "";
  return {
    element,
    render(reaction) {
      const by = fill(strings.reactionBy, reaction?.author ?? strings.agent);
      const next = reaction ? `${by}: ${reaction.emoji}` : "";
      // Screen readers announce an element that is added again.
      if (next === shown) return;
      shown = next;
      element.title = next && by;
      element.replaceChildren(...(reaction ? [el("span", { class: "hidden" }, `${by}: `), reaction.emoji] : []));
    },
  };
}

/** The customer's own, at any other message. `react` is called with the one chosen; null takes it back. */
export function createReactionChoice(strings: Strings, react: (emoji: AgentReactionSign | null) => void): Reactions {
  let chosen: string | undefined;
  const show = (open: boolean): void => {
    choices.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (!open) opener.focus();
  };
  const opener = button({ class: "thumb", "aria-expanded": "false" }, () => show(choices.hidden === true));
  const choose = (emoji: AgentReactionSign) => (): void => {
    react(chosen === emoji ? null : emoji);
    show(false);
  };
  const buttons = agentReactions.map((emoji) => button({ class: "thumb" }, choose(emoji), emoji));
  const choices = el("div", { class: "thumbs", role: "group", "aria-label": strings.react, hidden: "" }, ...buttons);
  const element = el("div", { class: "thumbs" }, opener, choices);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || choices.hidden) return;
    // The chat stays open.
    event.stopPropagation();
    show(false);
  });
  const render = (reaction: ChatMessage["reaction"]): void => {
    chosen = reaction?.emoji;
    opener.title = chosen === undefined ? strings.react : `${strings.react}: ${chosen}`;
    opener.setAttribute("aria-label", opener.title);
    opener.replaceChildren(chosen ?? icon("smile"));
    for (const each of buttons) each.setAttribute("aria-pressed", String(each.textContent === chosen));
  };
  render(undefined);
  return { element, render };
}
