import type { Chat } from "../session/chat.ts";
import type { ChatState } from "../session/chat-state.ts";
import { button, el } from "./dom.ts";
import type { Strings } from "./strings.ts";

/** Asks a visitor for an e-mail address when a person will answer later. */
export function createLeadForm(
  strings: Strings,
  chat: Chat,
): { readonly element: HTMLElement; render(state: ChatState): void } {
  const input = (field: "name" | "email", attributes: Readonly<Record<string, string>>): HTMLInputElement =>
    el("input", {
      name: field,
      autocomplete: field,
      placeholder: strings[field],
      "aria-label": strings[field],
      ...attributes,
    });
  const name = input("name", { type: "text", maxlength: "200" });
  const email = input("email", {
    type: "email",
    inputmode: "email",
    maxlength: "254",
    required: "",
    "aria-describedby": "lead-problem",
  });
  const problem = el("p", { class: "problem", id: "lead-problem", role: "alert" });
  const save = el("button", { type: "submit", class: "primary" }, strings.save);
  const later = button({ class: "plain" }, chat.dismissLead, strings.notNow);
  const fields = el("div", { class: "fields" }, email, name, problem, el("div", { class: "actions" }, later, save));
  const form = el(
    "form",
    { class: "lead", "aria-label": strings.leadTitle, novalidate: "", hidden: "" },
    el("strong", {}, strings.leadTitle),
    el("p", {}, strings.leadText),
    fields,
  );
  const thanks = el("p", { class: "thanks", role: "status" });
  const element = el("div", { class: "lead-place" }, form, thanks);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (chat.state().lead === "saving") return;
    if (!email.checkValidity()) {
      problem.textContent = strings.emailInvalid;
      email.setAttribute("aria-invalid", "true");
      email.focus();
      return;
    }
    chat.sendLead(name.value.trim(), email.value.trim());
  });

  return {
    element,
    render({ lead }) {
      form.hidden = lead === "none" || lead === "saved";
      // A disabled button would lose the focus.
      save.setAttribute("aria-disabled", String(lead === "saving"));
      const text = lead === "invalid" ? strings.emailInvalid : lead === "failed" ? strings.leadFailed : "";
      if (lead !== "ask" || problem.textContent === "") problem.textContent = text;
      if (lead !== "ask") email.toggleAttribute("aria-invalid", lead === "invalid");
      thanks.textContent = lead === "saved" ? strings.leadSaved : "";
    },
  };
}
