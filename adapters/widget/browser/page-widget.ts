/** The name of the widget's element. */
export const elementName = "parley-chat";

/** Put on `window` by the page's only widget. */
export interface PageWidget {
  /** Removes the chat, and closes its connection. A script that is loaded later starts another one. */
  destroy(): void;
}

declare global {
  interface Window {
    parley?: PageWidget;
  }
}

/**
 * Makes the widget of this page. Undefined if there is one: tag managers load the script twice, and sites that replace
 * their pages in place run it at each visit.
 */
export function claimPage(host: HTMLElement): AbortSignal | undefined {
  if (window.parley !== undefined) return undefined;
  const end = new AbortController();
  window.parley = {
    destroy() {
      end.abort();
      host.remove();
      delete window.parley;
    },
  };
  keepAttached(host, end.signal);
  return end.signal;
}

/** Puts the element back when the site replaces the body, and removes copies of it that the site has restored. */
function keepAttached(host: HTMLElement, ended: AbortSignal): void {
  const attach = (): void => {
    for (const copy of document.querySelectorAll(elementName)) if (copy !== host) copy.remove();
    // While the page is replaced, there is no body for a moment.
    const body = document.body as HTMLElement | null;
    if (body === null) return;
    if (!host.isConnected) body.append(host);
    for (const node of [document, document.documentElement, body]) observer.observe(node, { childList: true });
  };
  const observer = new MutationObserver(attach);
  ended.addEventListener("abort", () => observer.disconnect());
  attach();
}
