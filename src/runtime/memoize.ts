import { createCache } from "./cache.ts";

/**
 * Caches results of `make` for recently used texts, up to this many characters in all. The result must depend only on the
 * text.
 */
export function memoize<T extends object>(charactersMax: number, make: (text: string) => T): (text: string) => T {
  const cache = createCache<string, T>(charactersMax);
  return (text) => {
    const known = cache.get(text);
    if (known !== undefined) return known;
    const made = make(text);
    cache.set(text, made, text.length);
    return made;
  };
}
