import type { ConversationView, MessageView } from "#http/inbox/wire.ts";
import type { InboxStore } from "#web/inbox/store/state.ts";
import { button, el, icon } from "#web/inbox/ui/dom.ts";
import { tooLong } from "#web/inbox/ui/labels.ts";

/** What an agent may still do with a reply of theirs: change it, and take it back, where the channel can. */
export interface OwnReplies {
  /** The buttons of a message; none where nothing can be done with it. */
  tools(message: MessageView, conversation: ConversationView): readonly HTMLElement[];
  /** What stands in place of the message while it is changed. */
  editor(message: MessageView): HTMLElement | undefined;
}

interface Editing {
  readonly messageId: string;
  readonly element: HTMLElement;
}

export function createOwnReplies(
  store: InboxStore,
  on: {
    readonly redraw: () => void;
    readonly takeBack: (customer: string, take: () => void) => void;
    /** What is being changed was deleted in another window. */
    readonly goneMeanwhile: () => void;
  },
): OwnReplies {
  let editing: Editing | undefined;

  const toolOf = (messageId: string, name: "edit" | "remove"): string => `${name}-${messageId}`;

  /** Whoever works by the keyboard goes on where they were. */
  function focusOn(id: string): void {
    requestAnimationFrame(() => {
      const tool = document.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
      (tool ?? document.querySelector<HTMLElement>(".log"))?.focus({ preventScroll: true });
    });
  }

  function end(messageId: string): void {
    editing = undefined;
    on.redraw();
    focusOn(toolOf(messageId, "edit"));
  }

  function begin(messageId: string, was: string): void {
    const field = el("textarea", {
      rows: "2",
      dir: "auto",
      "aria-label": "Your reply, as it is to be",
    });
    field.value = was;
    const save = el("button", { type: "submit", class: "primary" }, el("span", {}, "Save"));
    const cancel = button("Cancel", () => end(messageId), { kind: "secondary" });
    const hint = el("span", { class: "composer-hint" });
    const form = el(
      "form",
      { class: "own-editor" },
      el("p", { class: "own-editor-head" }, "Change your reply"),
      field,
      el("div", { class: "own-editor-foot" }, hint, cancel, save),
    );
    const fit = (): void => {
      field.style.height = "auto";
      field.style.height = `${Math.min(field.scrollHeight + 2, 320)}px`;
      const long = tooLong(field.value);
      hint.textContent = long ?? "The customer sees the change.";
      hint.classList.toggle("over", long !== undefined);
      save.disabled = field.value.trim() === "" || field.value.trim() === was.trim() || long !== undefined;
    };
    const submit = async (): Promise<void> => {
      if (save.disabled) return;
      save.disabled = true;
      const done = await store.amend(messageId, field.value.trim(), was);
      if (done) end(messageId);
      else {
        fit();
        field.focus();
      }
    };
    field.addEventListener("input", fit);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void submit();
      } else if (event.key === "Escape") {
        event.preventDefault();
        end(messageId);
      }
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void submit();
    });
    editing = { messageId, element: el("article", { class: "row agent first last editing" }, form) };
    on.redraw();
    // At once: later it would take the caret from who has begun to write.
    fit();
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
    form.scrollIntoView({ block: "nearest" });
  }

  return {
    tools({ id, own, changing, delivery, unsent }, { amendable, customer }) {
      const arrives = delivery === null || (delivery.state !== "failed" && delivery.state !== "unknown");
      if (own === null || changing !== null || !arrives) return [];
      const tool = (name: "edit" | "remove", label: string, press: () => void): HTMLElement => {
        const element = button(label, press, { kind: "tool" });
        element.id = toolOf(id, name);
        element.setAttribute("aria-label", `${label} your reply`);
        return element;
      };
      return [
        // What has files and no words has nothing to change.
        ...((amendable.edit || unsent) && own !== "" ? [tool("edit", "Edit", () => begin(id, own))] : []),
        ...(amendable.remove || unsent
          ? [
              tool("remove", "Delete", () =>
                on.takeBack(customer.label, () => {
                  void store.amend(id, null).then(() => focusOn(toolOf(id, "remove")));
                }),
              ),
            ]
          : []),
      ];
    },
    editor({ id, own }) {
      if (editing?.messageId !== id) return undefined;
      if (own !== null) return editing.element;
      editing = undefined;
      on.goneMeanwhile();
      return undefined;
    },
  };
}

/** That a change has not reached the customer yet. */
export function changingMark({ changing }: Pick<MessageView, "changing">): HTMLElement | undefined {
  if (changing === null) return undefined;
  return el(
    "span",
    { class: "delivery changing" },
    icon("clock"),
    changing === "edit" ? "Being changed…" : "Being deleted…",
  );
}
