/** The scroll position of the log. */
export interface LogScroll {
  /** Whether the end is visible, or nearly. */
  atEnd(): boolean;
  /** Whether the log follows its end. */
  isPinned(): boolean;
  toEnd(): void;
  /** Shows the beginning of a node. */
  toStartOf(node: HTMLElement): void;
  /** Scrolls to the place before the element was taken out of the page, which loses it. */
  restore(): void;
  /** Runs a change above what is read, which stays where it is. */
  keepPlace(change: () => void): void;
}

const nearEndPx = 80;
/** Older messages are fetched before the first one is visible. */
const nearStartPx = 200;

/** `nearStart` is called when the customer scrolls towards the first message. */
export function createLogScroll(element: HTMLElement, list: HTMLElement, nearStart: () => void): LogScroll {
  let pinned = true;
  let top = 0;

  const atEnd = (): boolean => element.scrollHeight - element.scrollTop - element.clientHeight < nearEndPx;
  const toEnd = (): void => {
    element.scrollTop = element.scrollHeight;
    pinned = true;
  };

  element.addEventListener("scroll", () => {
    // Only scrolling up unpins the log: an image that loads late does not.
    pinned = atEnd() || (pinned && element.scrollTop >= top);
    top = element.scrollTop;
    if (element.scrollTop < nearStartPx && !pinned) nearStart();
  });
  // A keyboard or a form may take some of the space.
  const sizes = new ResizeObserver(() => {
    if (pinned) toEnd();
  });
  sizes.observe(element);
  sizes.observe(list);

  return {
    atEnd,
    isPinned: () => pinned,
    toEnd,
    toStartOf(node) {
      element.scrollTop = node.offsetTop - 12;
      pinned = atEnd();
    },
    restore() {
      if (pinned) toEnd();
      else element.scrollTop = top;
    },
    keepPlace(change) {
      const fromEnd = element.scrollHeight - element.scrollTop;
      change();
      element.scrollTop = element.scrollHeight - fromEnd;
    },
  };
}
