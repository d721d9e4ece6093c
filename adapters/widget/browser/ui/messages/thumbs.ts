import type { ChatMessage } from "../../session/chat-message.ts";
import { el, iconButton } from "../dom.ts";
import type { Strings } from "../strings.ts";

/** The two buttons below an answer of the bot. */
export interface Thumbs {
  readonly element: HTMLElement;
  render(feedback: ChatMessage["feedback"]): void;
}

/** `judge` is called with the customer's opinion; null takes it back. */
export function createThumbs(strings: Strings, judge: (value: "up" | "down" | null) => void): Thumbs {
  let shown: ChatMessage["feedback"];
  const press = (value: "up" | "down") => (): void => judge(shown === value ? null : value);
  const up = iconButton("thumb", "thumb", strings.helpful, press("up"));
  const down = iconButton("thumb", "thumb down", strings.unhelpful, press("down"));
  return {
    element: el("div", { class: "thumbs" }, up, down),
    render(feedback) {
      shown = feedback;
      up.setAttribute("aria-pressed", String(feedback === "up"));
      down.setAttribute("aria-pressed", String(feedback === "down"));
    },
  };
}
