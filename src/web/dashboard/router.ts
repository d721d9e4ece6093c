import type { ReadonlySignal } from "@preact/signals";
import { signal } from "@preact/signals";

const root = "/dashboard";

/** `page` is empty on the overview, and undefined for a path that no page can have. */
export interface Route {
  readonly page: string | undefined;
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

export interface Router {
  readonly route: ReadonlySignal<Route>;
  /** Whether the page was opened from another one. The first page leaves the focus where the browser has it. */
  readonly hasMoved: () => boolean;
  readonly go: (to: string) => void;
  /** Changes values of the query without an entry in the history. An empty value is removed. */
  readonly setQuery: (values: Readonly<Record<string, string>>) => void;
  /** Asks before another page is opened or the tab is closed, until the returned function is called. */
  readonly holdUnsaved: () => () => void;
  /** Asks the agent, where there are unsaved changes. */
  readonly mayLeave: () => boolean;
  /** Follows links and the buttons of the browser. */
  readonly start: () => void;
}

/** The address of a page, or of one thing on it. */
export function addressOf(page: string, id?: string): string {
  if (page === "") return root;
  return id === undefined ? `${root}/${page}` : `${root}/${page}/${encodeURIComponent(id)}`;
}

export function parseAddress({ pathname, search }: Pick<URL, "pathname" | "search">): Route {
  const parts = pathname.slice(root.length).replace(/\/$/u, "").split("/").slice(1);
  const [page = "", encoded] = parts;
  const id = encoded === undefined ? undefined : decoded(encoded);
  const isKnown = parts.length <= 2 && (encoded === undefined || id !== undefined);
  return { page: isKnown ? page : undefined, id, query: new URLSearchParams(search) };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not every text with a percent sign is encoded.
    return undefined;
  }
}

export function createRouter(): Router {
  const route = signal(parseAddress(location));
  let moves = 0;
  let shown = location.href;
  const unsaved = new Set<object>();
  // oxlint-disable-next-line no-alert -- the browser's own question holds the address until it is answered
  const mayLeave = (): boolean => unsaved.size === 0 || confirm("Leave without saving? Your changes are lost.");
  const onUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

  const follow = (): void => {
    moves += 1;
    shown = location.href;
    route.value = parseAddress(location);
  };
  const go = (to: string): void => {
    if (!mayLeave()) return;
    history.pushState(null, "", to);
    follow();
    scrollTo(0, 0);
  };
  return {
    route,
    hasMoved: () => moves > 0,
    go,
    setQuery(values) {
      const address = new URL(location.href);
      for (const [name, value] of Object.entries(values)) {
        if (value === "") address.searchParams.delete(name);
        else address.searchParams.set(name, value);
      }
      history.replaceState(null, "", address);
      shown = address.href;
      route.value = parseAddress(address);
    },
    mayLeave,
    holdUnsaved() {
      const held = {};
      // Browsers keep pages without this listener in memory for the button "Back".
      if (unsaved.size === 0) addEventListener("beforeunload", onUnload);
      unsaved.add(held);
      return () => {
        if (unsaved.delete(held) && unsaved.size === 0) removeEventListener("beforeunload", onUnload);
      };
    },
    start() {
      addEventListener("popstate", () => {
        if (mayLeave()) follow();
        // The browser has changed the address already.
        else history.pushState(null, "", shown);
      });
      document.addEventListener("click", (event) => {
        const to = linkedPage(event);
        if (to === undefined) return;
        event.preventDefault();
        go(to);
      });
    },
  };
}

/** The address of the dashboard that a click leads to in this tab. */
function linkedPage(event: MouseEvent): string | undefined {
  const { target, button, defaultPrevented } = event;
  if (defaultPrevented || button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[href]") : null;
  if (link === null || (link.target !== "" && link.target !== "_self") || link.hasAttribute("download")) return;
  const { origin, pathname, search, hash, href } = new URL(link.href);
  if (origin !== location.origin || (pathname !== root && !pathname.startsWith(`${root}/`))) return;
  const isHere = pathname === location.pathname && search === location.search && hash !== "";
  return isHere ? undefined : href;
}
