import { button, el } from "./dom.ts";
import { shortcutList, shortcuts } from "./shortcuts.ts";

export interface Dialogs {
  readonly elements: readonly HTMLElement[];
  help(): void;
  /** Asks before a conversation is taken from a colleague. */
  takeOver(name: string, take: () => void): void;
  /** Asks what becomes of a reply in a colleague's conversation. */
  held(
    name: string,
    choices: { readonly takeOver: () => void; readonly send: () => void; readonly note: () => void },
  ): void;
  /** Asks before a reply is taken back. */
  takeBack(customer: string, take: () => void): void;
  /** Asks before the built-in manual is removed. */
  removeManual(remove: () => void): void;
  /** Asks for a day between two moments; `chosen` is given the moment at which it begins. */
  date(from: number, to: number, chosen: (at: number) => void): void;
}

export function createDialogs(): Dialogs {
  const help = dialog("Keyboard shortcuts");
  help.append(
    shortcutList(shortcuts),
    el(
      "div",
      { class: "dialog-actions" },
      button("Close", () => help.close(), { kind: "primary" }),
    ),
  );

  const taking = dialog("Take this conversation over?");
  const who = el("p");
  let take = (): void => undefined;
  taking.append(
    who,
    el(
      "div",
      { class: "dialog-actions" },
      button("Leave it", () => taking.close(), { kind: "secondary" }),
      button(
        "Take over",
        () => {
          taking.close();
          take();
        },
        { kind: "primary" },
      ),
    ),
  );

  const holding = dialog("Your reply was not sent");
  const holder = el("p");
  let choices: Parameters<Dialogs["held"]>[1] | undefined;
  const choice = (label: string, kind: string, choose: () => void): HTMLButtonElement =>
    button(
      label,
      () => {
        holding.close();
        choose();
      },
      { kind },
    );
  holding.append(
    holder,
    el(
      "div",
      { class: "dialog-actions stacked" },
      choice("Take over and send", "primary", () => choices?.takeOver()),
      choice("Send anyway", "secondary", () => choices?.send()),
      choice("Keep as note", "secondary", () => choices?.note()),
      choice("Keep editing", "plain", () => undefined),
    ),
  );

  const removing = dialog("Delete your reply?");
  const whose = el("p");
  let remove = (): void => undefined;
  removing.append(
    whose,
    el(
      "div",
      { class: "dialog-actions" },
      button("Keep it", () => removing.close(), { kind: "secondary" }),
      button(
        "Delete",
        () => {
          removing.close();
          remove();
        },
        { kind: "primary danger" },
      ),
    ),
  );

  const clearing = dialog("Remove the built-in manual?");
  let clear = (): void => undefined;
  clearing.append(
    el("p", {}, "The bot then answers from your own documents only. This cannot be undone."),
    el(
      "div",
      { class: "dialog-actions" },
      button("Keep it", () => clearing.close(), { kind: "secondary" }),
      button(
        "Remove",
        () => {
          clearing.close();
          clear();
        },
        { kind: "primary danger" },
      ),
    ),
  );

  const dating = createDateDialog();

  return {
    elements: [help, taking, holding, removing, clearing, dating.element],
    date: dating.ask,
    help: () => help.showModal(),
    takeOver(name, next) {
      who.textContent = `${name} has claimed it. They will see that you took it over.`;
      take = next;
      taking.showModal();
    },
    held(name, next) {
      holder.textContent = `${name} has this conversation, and the customer might hear from both of you.`;
      choices = next;
      holding.showModal();
    },
    takeBack(customer, next) {
      whose.textContent = `It disappears for ${customer}, too. What they have read they have read.`;
      remove = next;
      removing.showModal();
    },
    removeManual(next) {
      clear = next;
      clearing.showModal();
    },
  };
}

function createDateDialog(): { readonly element: HTMLDialogElement; readonly ask: Dialogs["date"] } {
  const element = dialog("Go to a date");
  const day = el("input", { type: "date", id: "go-to-date", required: "" });
  const form = el(
    "form",
    { method: "dialog" },
    el("label", { for: "go-to-date" }, "First message on or after this day"),
    day,
    el(
      "div",
      { class: "dialog-actions" },
      button("Cancel", () => element.close(), { kind: "secondary" }),
      el("button", { type: "submit", class: "primary" }, el("span", {}, "Go")),
    ),
  );
  let choose: (at: number) => void = () => undefined;
  form.addEventListener("submit", () => {
    const [year = 0, month = 1, date = 1] = day.value.split("-").map(Number);
    choose(new Date(year, month - 1, date).getTime());
  });
  element.append(form);
  return {
    element,
    ask(from, to, chosen) {
      day.min = dateText(from);
      day.max = dateText(to);
      day.value = day.min;
      choose = chosen;
      element.showModal();
    },
  };
}

/** The local date, as a field for dates takes it. */
function dateText(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function dialog(title: string): HTMLDialogElement {
  const element = el("dialog", { "aria-label": title }, el("h2", {}, title));
  // A click on the backdrop is a click on the dialog itself.
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  return element;
}
