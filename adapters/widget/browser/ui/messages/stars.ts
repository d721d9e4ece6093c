import type { Score } from "#domain/conversation/message.ts";
import type { ChatMessage } from "../../session/chat-message.ts";
import { button, el } from "../dom.ts";
import type { Strings } from "../strings.ts";
import { fill } from "../strings.ts";

/** The five buttons below a survey, and the field for a comment that follows. */
export interface Stars {
  readonly element: HTMLElement;
  render(rating: ChatMessage["rating"]): void;
}

const scores: readonly Score[] = [1, 2, 3, 4, 5];
const commentMax = 2_000;

/** `rate` is called with the score, and again with the same score and a comment. */
export function createStars(strings: Strings, rate: (score: Score, comment?: string) => void): Stars {
  let given: Score | null = null;
  const buttons = scores.map((score) =>
    button(
      { class: "star", "aria-label": fill(strings.score, score), title: fill(strings.score, score) },
      // The first score counts.
      () => (given === null ? rate(score) : undefined),
      "★",
    ),
  );
  const field = el("textarea", {
    class: "comment",
    rows: "2",
    maxlength: String(commentMax),
    dir: "auto",
    "aria-label": strings.comment,
    placeholder: strings.comment,
  });
  const form = el("form", { class: "comments" }, field, el("button", { type: "submit" }, strings.save));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const comment = field.value.trim();
    if (given !== null && comment !== "") rate(given, comment);
  });
  const thanks = el("p", { class: "meta", role: "status" });
  const stars = el("div", { class: "stars", role: "group", "aria-label": strings.rating }, ...buttons);
  return {
    element: el("div", { class: "rating" }, stars, thanks, form),
    render(rating) {
      given = rating?.score ?? null;
      for (const [at, star] of buttons.entries()) {
        star.classList.toggle("lit", given !== null && at < given);
        star.setAttribute("aria-pressed", String(at + 1 === given));
        star.setAttribute("aria-disabled", String(given !== null));
      }
      thanks.textContent = given === null ? "" : strings.rated;
      form.hidden = given === null || rating?.commented === true;
    },
  };
}
