import { signal } from "@preact/signals";

/** Whether this agent wants notifications in this browser, and the browser allows them. */
export function createPermission(agent: string) {
  const key = `parley.inbox.notify.${agent}`;
  // Pages without encryption get none, and some phones none at all.
  const isOffered = signal("Notification" in window && window.isSecureContext);
  return {
    isOffered,
    isStored: (): boolean => localStorage.getItem(key) === "on",
    isGranted: (): boolean => isOffered.value && Notification.permission === "granted",
    request: async (): Promise<boolean> => (await Notification.requestPermission()) === "granted",
    store(on: boolean): void {
      try {
        localStorage.setItem(key, on ? "on" : "off");
      } catch {
        // Storage is full or refused: the choice lasts as long as the page.
      }
    },
  };
}

/**
 * Every window shows the same; the system shows one notification of each tag. Returns false where the browser refuses
 * notifications to pages, as those of phones do.
 */
export function showNotification(title: string, body: string, tag: string, hash?: string): boolean {
  try {
    const notification = new Notification(title, { body, tag: `parley ${tag}` });
    notification.addEventListener("click", () => {
      window.focus();
      if (hash !== undefined) location.hash = hash;
      notification.close();
    });
    return true;
  } catch {
    return false;
  }
}
