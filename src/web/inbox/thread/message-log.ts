import { button, el, place } from "#web/inbox/ui/dom.ts";

/** The scrolled part of a conversation. It stays where it is read when messages are added or dropped above that. */
export interface MessageLog {
  readonly element: HTMLElement;
  atEnd(): boolean;
  toEnd(): void;
  /** Moves the focus and the scroll position to the first node when the next nodes are placed. */
  startAtTop(): void;
  focus(): void;
  place(
    nodes: readonly Node[],
    shows: {
      readonly conversationId: string;
      readonly hasEarlier: boolean;
      readonly hasLater: boolean;
      readonly lastSeq: number;
    },
  ): void;
}

const nearEndPx = 90;
/** So close to the first or last message that is held, the next ones are fetched. */
const nearEdgePx = 500;

export function createMessageLog(on: {
  readonly extend: (to: "earlier" | "later") => void;
  readonly jump: (to: "first" | "end") => void;
}): MessageLog {
  const list = el("div", { class: "entries" });
  const log = el(
    "div",
    { class: "log", role: "log", "aria-live": "off", "aria-label": "Messages, notes and events", tabindex: "0" },
    list,
  );
  const newer = button("New messages", () => on.jump("end"), { kind: "newer", shape: "down" });
  newer.hidden = true;
  const element = el("div", { class: "middle" }, log, newer);
  let shown: string | undefined;
  let newestSeq = 0;
  let more = { hasEarlier: false, hasLater: false };
  let pinned = true;
  let fromTop = false;
  let top = 0;

  const fromEnd = (): number => log.scrollHeight - log.scrollTop - log.clientHeight;
  const toEnd = (): void => {
    log.scrollTop = log.scrollHeight;
    top = log.scrollTop;
    pinned = true;
    newer.hidden = true;
  };
  log.addEventListener("scroll", () => {
    // Only scrolling up leaves the end. A picture that loads late makes the log longer, and must not.
    pinned = !more.hasLater && (fromEnd() < nearEndPx || (pinned && log.scrollTop >= top));
    if (log.scrollTop < top && log.scrollTop < nearEdgePx && more.hasEarlier) on.extend("earlier");
    if (log.scrollTop > top && fromEnd() < nearEdgePx && more.hasLater) on.extend("later");
    top = log.scrollTop;
    if (pinned) newer.hidden = true;
  });
  log.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLTextAreaElement) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if ((event.key === "Home" && more.hasEarlier) || (event.key === "End" && more.hasLater)) {
      event.preventDefault();
      on.jump(event.key === "Home" ? "first" : "end");
    }
  });
  const sizes = new ResizeObserver(() => {
    if (pinned) toEnd();
  });
  sizes.observe(log);
  sizes.observe(list);

  /** The nodes that are in sight, with their distance to the top of the log. */
  function inSight(): readonly { readonly node: HTMLElement; readonly y: number }[] {
    const view = log.getBoundingClientRect();
    return [...list.querySelectorAll<HTMLElement>(":scope > :not(.earlier, .day)")]
      .map((node) => ({ node, box: node.getBoundingClientRect() }))
      .filter(({ box }) => box.bottom > view.top && box.top < view.bottom)
      .map(({ node, box }) => ({ node, y: box.top }));
  }

  function showTop(): void {
    log.scrollTop = 0;
    top = 0;
    pinned = false;
    const first = list.querySelector<HTMLElement>(":scope > article") ?? log;
    if (first !== log) first.tabIndex = -1;
    first.focus({ preventScroll: true });
  }

  return {
    element,
    atEnd: () => pinned,
    toEnd,
    focus: () => log.focus({ preventScroll: true }),
    startAtTop() {
      fromTop = true;
    },
    place(nodes, { conversationId, hasEarlier, hasLater, lastSeq }) {
      const isOther = shown !== conversationId;
      const had = log.contains(document.activeElement);
      const anchors = isOther || pinned ? [] : inSight();
      more = { hasEarlier, hasLater };
      place(list, nodes);
      // A node that was removed cannot keep the focus.
      if (had && !log.contains(document.activeElement)) log.focus({ preventScroll: true });
      if (fromTop && !isOther) showTop();
      else if (isOther || (pinned && !hasLater)) toEnd();
      else {
        const anchor = anchors.find(({ node }) => node.isConnected);
        if (anchor !== undefined) log.scrollTop += anchor.node.getBoundingClientRect().top - anchor.y;
        top = log.scrollTop;
      }
      fromTop = false;
      if (hasLater) pinned = false;
      const label = lastSeq > newestSeq && !isOther ? "New messages" : "Latest messages";
      if (!pinned && (hasLater || (lastSeq > newestSeq && !isOther))) {
        if (newer.hidden || label === "New messages") newer.querySelector("span")?.replaceChildren(label);
        newer.hidden = false;
      }
      shown = conversationId;
      newestSeq = lastSeq;
    },
  };
}
