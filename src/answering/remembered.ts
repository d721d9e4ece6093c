/**
 * What `make` makes of a text, remembered for the texts that were asked for last: as many as have so many characters
 * together. What is made must depend on the text alone.
 */
export function remembered<T extends object>(charactersMax: number, make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>();
  let characters = 0;
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) {
      // What was asked for last is dropped last.
      kept.delete(text);
      kept.set(text, known);
      return known;
    }
    const made = make(text);
    kept.set(text, made);
    characters += text.length;
    for (const [oldest] of kept) {
      if (characters <= charactersMax) break;
      kept.delete(oldest);
      characters -= oldest.length;
    }
    return made;
  };
}
