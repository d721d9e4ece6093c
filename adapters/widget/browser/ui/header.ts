import type { ConversationStatus } from "../../frames.ts";
import { avatar, el, iconButton } from "./dom.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";

/** The top of the chat: its title and who answers. */
export interface Header {
  readonly element: HTMLElement;
  render(title: string, status: ConversationStatus): void;
}

/** `close`: called by the close button; undefined: there is none. The title has the id `title`. */
export function createHeader(strings: Strings, close: (() => void) | undefined): Header {
  const face = el("span", { class: "face", "aria-hidden": "true" }, avatar("assistant", ""));
  const heading = el(close === undefined ? "h1" : "h2", { class: "title", id: "title", dir: "auto" });
  const standing = el("p", { class: "standing" });
  let shownFace = "";

  return {
    element: el(
      "div",
      { class: "head" },
      face,
      el("div", { class: "heading-text" }, heading, standing),
      close && iconButton("close", "close", strings.close, close),
    ),
    render(title, status) {
      setText(heading, title);
      setText(standing, statusText(status, strings));
      const role = status.handledBy === "agent" ? "agent" : "assistant";
      const name = role === "agent" ? (status.agentName ?? strings.agent) : "";
      if (shownFace === role + name) return;
      shownFace = role + name;
      face.replaceChildren(avatar(role, name));
    },
  };
}

/** Screen readers announce a text again when it is set again. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function statusText({ handledBy, agentName }: ConversationStatus, strings: Strings): string {
  if (handledBy === "assistant") return strings.answersNow;
  if (handledBy === "waiting") return strings.waiting;
  if (handledBy === "resolved") return strings.ended;
  return agentName === null ? strings.agentUnnamed : fill(strings.agentHere, agentName);
}
