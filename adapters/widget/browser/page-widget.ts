import type { Settings } from "./settings.ts";

/** The name of the widget's element. */
export const elementName = "parley-chat";

/** Put on `window` by the page's only widget. */
export interface PageWidget {
  /** The settings that it was started with, without the user token, which changes at every visit. */
  readonly settings: string;
  /** Removes the chat, and closes its connection. A script that is loaded later starts another one. */
  destroy(): void;
}

declare global {
  interface Window {
    parley?: PageWidget;
  }
}

/**
 * Makes the widget of this page. Tag managers load the script twice, and sites that replace their pages in place run it
 * at each visit: the running widget stays while the settings are the same, and gets a newer token. A script with other
 * settings replaces it, because another user may have signed in. `attached` is called when the element is in the page
 * again. Undefined when the running widget stays.
 */
export function claimPage(host: HTMLElement, settings: Settings, attached: () => void): AbortSignal | undefined {
  const { user_token: token, ...identity } = settings.identity ?? {};
  const own = JSON.stringify({ ...settings, identity });
  if (window.parley?.settings === own) {
    if (token !== undefined) document.dispatchEvent(new CustomEvent("parley:user", { detail: token }));
    return undefined;
  }
  window.parley?.destroy();
  const end = new AbortController();
  window.parley = {
    settings: own,
    destroy() {
      end.abort();
      host.remove();
      delete window.parley;
    },
  };
  keepAttached(host, end.signal, attached);
  return end.signal;
}

/** Puts the element back when the site replaces the body, and removes copies of it that the site has restored. */
function keepAttached(host: HTMLElement, ended: AbortSignal, attached: () => void): void {
  const attach = (): void => {
    for (const copy of document.querySelectorAll(elementName)) if (copy !== host) copy.remove();
    // While the page is replaced, there is no body for a moment.
    const body = document.body as HTMLElement | null;
    if (body === null) return;
    if (!host.isConnected) {
      body.append(host);
      attached();
    }
    for (const node of [document, document.documentElement, body]) observer.observe(node, { childList: true });
  };
  const observer = new MutationObserver(attach);
  ended.addEventListener("abort", () => observer.disconnect());
  attach();
}
