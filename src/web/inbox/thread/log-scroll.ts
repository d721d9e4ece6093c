import { signal } from "@preact/signals";
import type { ScrollRequest } from "#web/inbox/store/open-conversation.ts";

const nearEndPx = 90;
/** The distance to the first or last shown message at which the next ones are fetched. */
const nearEdgePx = 500;

export interface LogContents {
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  readonly lastSeq: number;
}

/**
 * The scroll position of the message log of one conversation. At the end it follows new messages; elsewhere it stays
 * where it is read when messages are added or dropped.
 */
export function createLogScroll(on: {
  readonly extend: (to: "earlier" | "later") => void;
  readonly atEnd: (isAtEnd: boolean) => void;
}) {
  /** The label of the button to the end; undefined: it is not shown. */
  const toEndLabel = signal<"New messages" | "Latest messages" | undefined>(undefined);
  let log: HTMLElement | undefined;
  let contents: LogContents = { hasEarlier: false, hasLater: false, lastSeq: 0 };
  let isPinned = true;
  let top = 0;
  let lastRequest: ScrollRequest | undefined;

  function pin(pinned: boolean): void {
    isPinned = pinned;
    on.atEnd(pinned);
    if (pinned) toEndLabel.value = undefined;
  }

  function toEnd(): void {
    if (log === undefined) return;
    log.scrollTop = log.scrollHeight;
    top = log.scrollTop;
    pin(true);
  }

  function toTop(): void {
    if (log === undefined) return;
    log.scrollTop = 0;
    top = 0;
    pin(false);
    focusFirstEntry(log);
  }

  function onScroll(): void {
    if (log === undefined) return;
    const fromEnd = distanceFromEnd(log);
    // Only scrolling up leaves the end: a picture that loads late makes the log longer, and must not.
    pin(!contents.hasLater && (fromEnd < nearEndPx || (isPinned && log.scrollTop >= top)));
    if (log.scrollTop < top && log.scrollTop < nearEdgePx && contents.hasEarlier) on.extend("earlier");
    if (log.scrollTop > top && fromEnd < nearEdgePx && contents.hasLater) on.extend("later");
    top = log.scrollTop;
  }

  /** The agent may have scrolled up in this frame. The browser reports it in the next one. */
  function unpinIfLeft(): void {
    if (log === undefined || !isPinned || log.scrollTop >= top) return;
    if (distanceFromEnd(log) >= nearEndPx) pin(false);
  }

  /** Follows the request, or else keeps what is read in sight. */
  function settle(request: ScrollRequest | undefined, keepInSight: () => void): void {
    if (request !== undefined && request !== lastRequest) {
      if (request.to === "top") toTop();
      else toEnd();
      if (request.to === "end" && request.focus) log?.focus({ preventScroll: true });
    } else if (isPinned && !contents.hasLater) toEnd();
    else {
      keepInSight();
      top = log?.scrollTop ?? 0;
    }
    lastRequest = request;
  }

  return {
    toEndLabel,
    onScroll,
    /** Call it with the element, and the result when that is removed. */
    attach(element: HTMLElement): () => void {
      log = element;
      const sizes = new ResizeObserver(() => {
        unpinIfLeft();
        if (isPinned) toEnd();
      });
      sizes.observe(element);
      for (const child of element.children) sizes.observe(child);
      return () => sizes.disconnect();
    },
    /** Call it before the log changes, and the result after that. */
    beforeChange() {
      unpinIfLeft();
      const anchors = log === undefined || isPinned ? [] : inSight(log);
      const hadFocus = log?.contains(document.activeElement) === true;
      return (next: LogContents, request: ScrollRequest | undefined): void => {
        const isNew = next.lastSeq > contents.lastSeq && contents.lastSeq > 0;
        contents = next;
        // A removed entry loses the focus.
        if (hadFocus && log?.contains(document.activeElement) === false) log.focus({ preventScroll: true });
        settle(request, () => {
          const anchor = anchors.find(({ node }) => node.isConnected);
          if (anchor !== undefined && log !== undefined)
            log.scrollTop += anchor.node.getBoundingClientRect().top - anchor.y;
        });
        if (next.hasLater) pin(false);
        if (isPinned || !(next.hasLater || isNew)) return;
        if (isNew || toEndLabel.value === undefined) toEndLabel.value = isNew ? "New messages" : "Latest messages";
      };
    },
  };
}

const distanceFromEnd = (log: HTMLElement): number => log.scrollHeight - log.scrollTop - log.clientHeight;

function focusFirstEntry(log: HTMLElement): void {
  const first = log.querySelector<HTMLElement>(".entries > article") ?? log;
  if (first !== log) first.tabIndex = -1;
  first.focus({ preventScroll: true });
}

/** The entries that are in sight, with their distance to the top of the page. */
function inSight(log: HTMLElement): readonly { readonly node: Element; readonly y: number }[] {
  const view = log.getBoundingClientRect();
  return [...log.querySelectorAll(".entries > :not(.earlier, .day)")]
    .map((node) => ({ node, box: node.getBoundingClientRect() }))
    .filter(({ box }) => box.bottom > view.top && box.top < view.bottom)
    .map(({ node, box }) => ({ node, y: box.top }));
}
