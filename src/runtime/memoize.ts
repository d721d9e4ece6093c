import { createCache } from "./cache.ts";

/**
 * What `make` makes of a text, remembered for the texts that were asked for last: as many as have so many characters
 * together. What is made must depend on the text alone.
 */
export function memoize<T extends object>(charactersMax: number, make: (text: string) => T): (text: string) => T {
  const kept = createCache<string, T>(charactersMax);
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const made = make(text);
    kept.set(text, made, text.length);
    return made;
  };
}
