import type { Chat, ChatState } from "../chat.ts";
import { el } from "./dom.ts";
import type { Strings } from "./strings.ts";

/** Asks a visitor for an address when a person will have to answer later. */
export function createLeadForm(
  strings: Strings,
  chat: Chat,
): { readonly element: HTMLElement; render(state: ChatState): void } {
  const name = el("input", {
    type: "text",
    name: "name",
    autocomplete: "name",
    maxlength: "200",
    placeholder: strings.name,
    "aria-label": strings.name,
  });
  const email = el("input", {
    type: "email",
    name: "email",
    autocomplete: "email",
    inputmode: "email",
    maxlength: "254",
    required: "",
    placeholder: strings.email,
    "aria-label": strings.email,
    "aria-describedby": "lead-problem",
  });
  const problem = el("p", { class: "problem", id: "lead-problem", role: "alert" });
  const save = el("button", { type: "submit", class: "primary" }, strings.save);
  const later = el("button", { type: "button", class: "plain" }, strings.notNow);
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
    if (save.getAttribute("aria-disabled") === "true") return;
    if (!email.checkValidity()) {
      problem.textContent = strings.emailInvalid;
      email.setAttribute("aria-invalid", "true");
      email.focus();
      return;
    }
    chat.lead(name.value.trim(), email.value.trim());
  });
  later.addEventListener("click", () => chat.dismissLead());

  return {
    element,
    render({ lead }) {
      form.hidden = lead === "none" || lead === "saved";
      // Disabled, it would lose the focus.
      save.setAttribute("aria-disabled", String(lead === "saving"));
      const text = lead === "invalid" ? strings.emailInvalid : lead === "failed" ? strings.leadFailed : "";
      if (lead !== "ask" || problem.textContent === "") problem.textContent = text;
      if (lead !== "ask") email.toggleAttribute("aria-invalid", lead === "invalid");
      thanks.textContent = lead === "saved" ? strings.leadSaved : "";
    },
  };
}
