/**
 * What the browser keeps, by keys that begin with the workspace and channel. Pages may be refused storage (private
 * windows, blocked third parties): then it is kept for as long as the page is open.
 */
export interface Keep {
  read(name: string): unknown;
  /** `undefined` removes it. */
  write(name: string, value: unknown): void;
  /** Calls back when another tab wrote something. */
  watch(listener: (name: string) => void): void;
}

export function createKeep(prefix: string, area: "localStorage" | "sessionStorage"): Keep {
  const memory = new Map<string, string>();
  const storage = (): Storage | undefined => {
    try {
      return window[area];
    } catch {
      return undefined;
    }
  };
  return {
    read(name) {
      let text: string | null | undefined = memory.get(name);
      try {
        text = storage()?.getItem(prefix + name) ?? text;
        return text === undefined ? undefined : (JSON.parse(text) as unknown);
      } catch {
        return undefined;
      }
    },
    write(name, value) {
      const text = value === undefined ? undefined : JSON.stringify(value);
      if (text === undefined) memory.delete(name);
      else memory.set(name, text);
      try {
        if (text === undefined) storage()?.removeItem(prefix + name);
        else storage()?.setItem(prefix + name, text);
      } catch {
        // Full or refused: memory has it.
      }
    },
    watch(listener) {
      addEventListener("storage", (event) => {
        if (event.key?.startsWith(prefix) === true) listener(event.key.slice(prefix.length));
      });
    },
  };
}
