import type { Chat, ChatState, Item } from "../chat.ts";
import { blocks, sources } from "./content.ts";
import { el, icon, initials } from "./dom.ts";
import { fileList } from "./files.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";

export interface MessageLog {
  readonly element: HTMLElement;
  render(state: ChatState): void;
  /** Whether the end is in sight. */
  atEnd(): boolean;
  toEnd(): void;
}

interface Row {
  readonly node: HTMLElement;
  readonly meta: HTMLElement;
  drawn: Item;
}

/** Messages this close together, of the same author, are one group. */
const groupMs = 5 * 60_000;
const nearEndPx = 80;
/** Older messages are fetched before the first is in sight. */
const nearStartPx = 200;
/** Readers of the screen are told of what arrives, and not of what was fetched from before. */
const quietMs = 1_000;

export function createMessageLog(
  strings: Strings,
  lang: string,
  { retry, older }: { readonly retry: (key: string) => void; readonly older: Chat["older"] },
): MessageLog {
  const list = el("div", { class: "list" });
  const typing = el("div", { class: "row bot typing", hidden: "" });
  const ended = el("p", { class: "ended" }, strings.endedText);
  const element = el(
    "div",
    {
      class: "log",
      role: "log",
      "aria-live": "polite",
      "aria-relevant": "additions",
      "aria-label": strings.log,
      tabindex: "0",
    },
    list,
  );
  const earlier = el("button", { type: "button", class: "again earlier" }, strings.earlier);
  earlier.addEventListener("click", () => older());
  const rows = new Map<string, Row>();
  const days = new Map<string, HTMLElement>();
  let greeting: { readonly text: string; readonly name: string; readonly node: HTMLElement } | undefined;
  let newest: string | undefined;
  let first: string | undefined;
  let quiet: number | undefined;
  let typingName: string | undefined;
  const language = supported(lang);
  const time = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
  const date = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });

  let pinned = true;

  const atEnd = (): boolean => element.scrollHeight - element.scrollTop - element.clientHeight < nearEndPx;
  const toEnd = (): void => {
    element.scrollTop = element.scrollHeight;
    pinned = true;
  };
  // Whoever reads the end goes on reading it when a form or a keyboard takes some of the room.
  let top = 0;
  element.addEventListener("scroll", () => {
    // Nor does a picture that comes late take anybody away from the end: only who scrolls up leaves it.
    pinned = atEnd() || (pinned && element.scrollTop >= top);
    top = element.scrollTop;
    if (element.scrollTop < nearStartPx && !pinned) older();
  });
  const sizes = new ResizeObserver(() => {
    if (pinned) toEnd();
  });
  sizes.observe(element);
  sizes.observe(list);

  const nameOf = (item: Item, state: ChatState): string => {
    if (item.role === "user") return strings.you;
    return item.author ?? (item.role === "agent" ? strings.agent : (state.face?.botName ?? ""));
  };

  const draw = (item: Item, name: string): Row => {
    const bubble =
      item.content.length > 0 || item.files.length === 0
        ? el("div", { class: "bubble", dir: "auto" }, ...blocks(item.content, strings))
        : undefined;
    const meta = el("div", { class: "meta" });
    const body = el(
      "div",
      { class: "body" },
      el("span", { class: "hidden" }, `${name}: `),
      bubble,
      fileList(item.files, strings),
      item.role === "user"
        ? undefined
        : sources(item.sources, item.uncertain ? strings.related : strings.sources, strings),
      meta,
    );
    const face = item.role === "user" ? undefined : avatar(item.role, name);
    return { node: el("div", { class: `row ${classOf(item.role)}` }, face, body), meta, drawn: item };
  };

  const drawMeta = (row: Row, item: Item, name: string): void => {
    row.node.classList.toggle("pending", item.state === "pending");
    row.node.classList.toggle("failed", item.state === "failed");
    if (item.state === "failed") {
      const why =
        item.why === "too_long"
          ? fill(strings.tooLong, 4000)
          : item.why === "limited"
            ? strings.limited
            : item.why === "files_gone"
              ? strings.filesGone
              : strings.notSent;
      const again = el("button", { type: "button", class: "again" }, strings.retry);
      again.addEventListener("click", () => retry(item.key));
      row.meta.replaceChildren(el("span", { role: "alert" }, why), " ", item.why === "too_long" ? "" : again);
      return;
    }
    const at = el("time", { datetime: new Date(item.createdAt).toISOString() }, time.format(item.createdAt));
    if (item.state === "pending") row.meta.replaceChildren(strings.sending);
    else row.meta.replaceChildren(...(item.role === "user" ? [at] : [el("bdi", {}, name), " · ", at]));
  };

  const dayNode = (item: Item): HTMLElement => {
    const key = new Date(item.createdAt).toDateString();
    const known = days.get(key);
    if (known !== undefined) return known;
    const ago = Math.round((startOfDay(Date.now()) - startOfDay(item.createdAt)) / 86_400_000);
    const text =
      ago < 2
        ? new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(-ago, "day")
        : date.format(item.createdAt);
    const node = el("div", { class: "day" }, el("span", {}, text));
    days.set(key, node);
    return node;
  };

  const render = (state: ChatState): void => {
    element.setAttribute("aria-busy", String(state.replaying));
    const nodes: HTMLElement[] = [];
    const { items, face } = state;
    const oldFirst = first;
    first = items[0]?.key;
    const prepended = oldFirst !== undefined && first !== oldFirst && items.some(({ key }) => key === oldFirst);
    const fromEnd = element.scrollHeight - element.scrollTop;
    earlier.setAttribute("aria-disabled", String(state.older === "loading"));
    if (state.older !== "none") nodes.push(earlier);
    else if (face !== undefined && face.greeting !== "") {
      if (greeting?.text !== face.greeting || greeting.name !== face.botName) {
        const bubble = el("div", { class: "bubble", dir: "auto" }, el("p", {}, face.greeting));
        const node = el(
          "div",
          { class: "row bot first last greeting" },
          avatar("assistant", face.botName),
          el("div", { class: "body" }, bubble),
        );
        greeting = { text: face.greeting, name: face.botName, node };
      }
      nodes.push(greeting.node);
    }
    items.forEach((item, index) => {
      const before = items[index - 1];
      const name = nameOf(item, state);
      let row = rows.get(item.key);
      if (row === undefined) {
        row = draw(item, name);
        rows.set(item.key, row);
        drawMeta(row, item, name);
      } else if (
        item.revision !== row.drawn.revision ||
        item.files.some(({ url }, at) => url !== row?.drawn.files[at]?.url)
      ) {
        // It was changed, or what is stored can be opened.
        row = draw(item, name);
        rows.set(item.key, row);
        drawMeta(row, item, name);
      } else if (row.drawn !== item) {
        if (row.drawn.state !== item.state || row.drawn.seq !== item.seq) drawMeta(row, item, name);
        row.drawn = item;
      }
      if (before === undefined || !sameDay(before, item)) nodes.push(dayNode(item));
      row.node.classList.toggle("first", before === undefined || !together(before, item));
      const after = items[index + 1];
      row.node.classList.toggle("last", after === undefined || !together(item, after));
      nodes.push(row.node);
    });
    const shown = new Set(items.map((item) => item.key));
    for (const key of rows.keys()) if (!shown.has(key)) rows.delete(key);
    drawTyping(state);
    if (prepended) {
      clearTimeout(quiet);
      element.setAttribute("aria-live", "off");
      quiet = window.setTimeout(() => element.setAttribute("aria-live", "polite"), quietMs);
    }
    // What goes must not take the focus with it.
    if (state.older === "none" && earlier.matches(":focus")) element.focus({ preventScroll: true });
    place(list, [...nodes, ...(state.standing.handledBy === "resolved" ? [ended] : []), typing]);
    // What was read stays where it was.
    if (prepended && !pinned) element.scrollTop = element.scrollHeight - fromEnd;
    const last = items.at(-1);
    const arrived = last !== undefined && last.key !== newest;
    newest = last?.key;
    if (!pinned && !(arrived && last?.role === "user" && last.state === "pending")) return;
    toEnd();
    // A long answer is read from its first line.
    const node =
      arrived && last !== undefined && last.role !== "user" && !state.replaying ? rows.get(last.key)?.node : undefined;
    if (node !== undefined && node.offsetHeight > element.clientHeight - 24) {
      element.scrollTop = node.offsetTop - 12;
      pinned = atEnd();
    }
  };

  const drawTyping = ({ typing: who, face }: ChatState): void => {
    typing.hidden = who === undefined;
    if (who === undefined) {
      typingName = undefined;
      return;
    }
    const name = who.name ?? (who.role === "agent" ? strings.agent : (face?.botName ?? ""));
    if (name === typingName) return;
    typingName = name;
    typing.replaceChildren(
      avatar(who.role, name),
      el(
        "div",
        { class: "body" },
        el(
          "div",
          { class: "bubble dots" },
          el("i"),
          el("i"),
          el("i"),
          el("span", { class: "hidden" }, fill(strings.typing, name)),
        ),
      ),
    );
  };

  return { element, render, atEnd, toEnd };
}

export function avatar(role: "assistant" | "agent", name: string): HTMLElement {
  return role === "agent" && initials(name) !== ""
    ? el("span", { class: "avatar person", "aria-hidden": "true" }, initials(name))
    : el("span", { class: "avatar", "aria-hidden": "true" }, icon("spark", true));
}

/** Moves only what is not in its place: a node that stays is not read out again. */
function place(parent: HTMLElement, nodes: readonly HTMLElement[]): void {
  const wanted = new Set<Node>(nodes);
  for (const child of Array.from(parent.childNodes)) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

const classOf = (role: Item["role"]): string => (role === "user" ? "user" : role === "agent" ? "agent" : "bot");

function together(one: Item, next: Item): boolean {
  const alike = one.role === next.role && one.author === next.author && one.state !== "failed";
  return alike && sameDay(one, next) && next.createdAt - one.createdAt < groupMs;
}

const sameDay = (one: Item, other: Item): boolean => startOfDay(one.createdAt) === startOfDay(other.createdAt);

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

function supported(lang: string): string | undefined {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(lang)[0];
  } catch {
    return undefined;
  }
}
