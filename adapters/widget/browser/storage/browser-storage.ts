/**
 * The browser's storage, below a prefix that names workspace and channel. Browsers may deny storage to a page (private
 * windows, blocked third parties); values then last as long as the page is open.
 */
export interface BrowserStorage {
  read(name: string): unknown;
  /** `undefined` removes the value. */
  write(name: string, value: unknown): void;
  /** Calls back when another tab wrote a value. */
  watch(ended: AbortSignal, listener: (name: string) => void): void;
}

export function createBrowserStorage(prefix: string, area: "localStorage" | "sessionStorage"): BrowserStorage {
  const memory = new Map<string, string>();
  const key = (name: string): string => prefix + name;
  return {
    read(name) {
      const text = attempt(() => window[area].getItem(key(name))) ?? memory.get(name);
      return text === undefined ? undefined : attempt((): unknown => JSON.parse(text));
    },
    write(name, value) {
      if (value === undefined) {
        memory.delete(name);
        attempt(() => window[area].removeItem(key(name)));
        return;
      }
      const text = JSON.stringify(value);
      memory.set(name, text);
      attempt(() => window[area].setItem(key(name), text));
    },
    watch(ended, listener) {
      const changed = (event: StorageEvent): void => {
        if (event.key?.startsWith(prefix) === true) listener(event.key.slice(prefix.length));
      };
      addEventListener("storage", changed, { signal: ended });
    },
  };
}

/** The storage may be denied or full; then memory has the value. */
function attempt<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch {
    return undefined;
  }
}
