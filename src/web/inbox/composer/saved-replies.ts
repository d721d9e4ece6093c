import type { SavedReply } from "#http/inbox/wire.ts";
import { button, el } from "#web/inbox/ui/dom.ts";

/** Texts that are put into a reply by `/` and their name: a list that narrows while the name is typed. */
export interface SavedReplies {
  /** What is to choose from, above the field. */
  readonly element: HTMLElement;
  /** Begins without the keyboard. */
  readonly opener: HTMLElement;
  /** Whether the key was meant for the list. */
  keydown(event: KeyboardEvent): boolean;
  render(): void;
}

/** Who is named in a saved reply; null: nobody knows what they are called. */
export interface Names {
  readonly customer: string | null;
  readonly agent: string;
}

const shownMax = 8;
const typed = /(?:^|\s)\/([^\s/{}]{0,40})$/u;

/**
 * Who has no name is not addressed by one: "Hello {customer}," is "Hello," then, and "{customer}, your refund" is "Your
 * refund". All at once: a name is what its owner made of it, and is neither filled in itself nor read as Markdown.
 */
function fillIn(text: string, { customer, agent }: Names): string {
  const known = customer === null ? withoutCustomer(text) : text;
  return known
    .trim()
    .replaceAll(/\{(customer|agent)\}/gu, (_, who: string) => asText((who === "agent" ? agent : customer) ?? ""));
}

function withoutCustomer(text: string): string {
  return text
    .replaceAll(/^[^\S\n]*\{customer\}[^\S\n]*[,;:!.、，：！]?[^\S\n]*(.?)/gmu, (_, first: string) =>
      first.toUpperCase(),
    )
    .replaceAll(/[^\S\n]*\{customer\}/gu, "");
}

/** A name on one line, in which every sign means itself. What begins a list or a heading does so at a line's beginning. */
const asText = (name: string): string =>
  name
    .trim()
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[\\`*_[\]<>~|]|&(?=#?\w{1,31};)/gu, String.raw`\$&`)
    .replace(/^(#{1,6}(?=\s|$)|[-+](?=\s|$))/u, String.raw`\$1`)
    .replace(/^(\d{1,9})([.)])(?=\s|$)/u, String.raw`$1\$2`);

/** Those whose name begins with it, then those that have it anywhere. */
function matching(replies: readonly SavedReply[], query: string): readonly SavedReply[] {
  const wanted = query.toLowerCase();
  const [begin, hold] = [
    (reply: SavedReply): boolean => reply.name.startsWith(wanted),
    (reply: SavedReply): boolean => `${reply.name}\n${reply.text}`.toLowerCase().includes(wanted),
  ];
  return [...replies.filter(begin), ...replies.filter((reply) => !begin(reply) && hold(reply))];
}

export function createSavedReplies(
  field: HTMLTextAreaElement,
  replies: () => readonly SavedReply[],
  names: () => Names | undefined,
): SavedReplies {
  const list = el("ul", { class: "saved", role: "listbox", id: "saved-replies", "aria-label": "Saved replies" });
  const told = el("span", { class: "unseen", role: "status" });
  const element = el("div", { class: "saved-place" }, list, told);
  list.hidden = true;
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-haspopup", "listbox");
  field.setAttribute("aria-controls", list.id);
  let shown: readonly SavedReply[] = [];
  let active = 0;
  /** Where the slash stands that was turned down. */
  let dismissedAt: number | undefined;

  const opener = button("Saved replies", () => begin(), {
    kind: "icon saved-opener",
    shape: "slash",
    iconOnly: true,
    key: "/",
  });
  // Pressed, it must not take the caret away.
  opener.addEventListener("mousedown", (event) => event.preventDefault());
  opener.removeAttribute("aria-keyshortcuts");

  function begin(): void {
    field.focus();
    if (!list.hidden) return close();
    const before = field.value.slice(0, field.selectionStart);
    dismissedAt = undefined;
    put(/(?:^|\s)$/u.test(before) ? "/" : " /", field.selectionStart, field.selectionEnd);
  }

  function put(text: string, from: number, to: number): void {
    field.setRangeText(text, from, to, "end");
    field.dispatchEvent(new Event("input"));
  }

  /** From the slash to the caret. */
  function asked(): { readonly query: string; readonly from: number } | undefined {
    if (field.selectionStart !== field.selectionEnd) return undefined;
    const query = typed.exec(field.value.slice(0, field.selectionStart))?.[1];
    return query === undefined ? undefined : { query, from: field.selectionStart - query.length - 1 };
  }

  function look(): void {
    const at = document.activeElement === field ? asked() : undefined;
    if (at?.from !== dismissedAt) dismissedAt = undefined;
    const found = at === undefined || dismissedAt !== undefined ? [] : matching(replies(), at.query);
    if (found.length === 0) return close();
    shown = found.slice(0, shownMax);
    active = 0;
    list.hidden = false;
    const count = found.length === 1 ? "1 saved reply" : `${found.length} saved replies`;
    told.textContent = found.length > shownMax ? `${count}, the first ${shownMax} are listed` : count;
    draw();
  }

  function close(): void {
    if (list.hidden) return;
    list.hidden = true;
    list.replaceChildren();
    told.textContent = "";
    field.removeAttribute("aria-activedescendant");
  }

  function draw(): void {
    const who = names() ?? { customer: null, agent: "" };
    list.replaceChildren(
      ...shown.map((reply, index) => {
        const option = el(
          "li",
          { role: "option", id: `saved-${index}`, "aria-selected": String(index === active) },
          el("span", { class: "saved-name" }, `/${reply.name}`),
          el(
            "span",
            { class: "saved-text", dir: "auto" },
            fillIn(reply.text, who).replaceAll(/\s+/gu, " ").slice(0, 160),
          ),
        );
        option.addEventListener("mousedown", (event) => event.preventDefault());
        option.addEventListener("click", () => choose(reply));
        return option;
      }),
    );
    field.setAttribute("aria-activedescendant", `saved-${active}`);
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function choose(reply: SavedReply): void {
    const [at, who] = [asked(), names()];
    close();
    if (at === undefined || who === undefined) return;
    put(fillIn(reply.text, who), at.from, field.selectionEnd);
    close();
    // What the text itself ends in is no wish for another one.
    dismissedAt = asked()?.from;
  }

  field.addEventListener("input", look);
  field.addEventListener("click", look);
  field.addEventListener("blur", close);

  return {
    element,
    opener,
    keydown(event) {
      if (list.hidden || event.isComposing) return false;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const reply = shown[active];
      if (step !== undefined) {
        active = (active + step + shown.length) % shown.length;
        draw();
      } else if ((event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) && reply !== undefined) {
        // Also with Ctrl, which sends otherwise: nobody means to send a slash and half a name.
        choose(reply);
      } else if (event.key === "Escape") {
        dismissedAt = asked()?.from;
        close();
      } else return false;
      event.preventDefault();
      event.stopPropagation();
      return true;
    },
    render() {
      opener.hidden = replies().length === 0;
    },
  };
}
