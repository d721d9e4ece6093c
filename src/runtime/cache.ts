/** Values that were asked for last, by what they were made of. */
export interface Cache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value, size: number): void;
  clear(): void;
}

/**
 * Holds as much as has this size in all, at most. What is found in the older half moves to the newer one; when that is
 * full, it takes the place of the older, which goes: to be found costs less so than to keep all in order.
 */
export function createCache<Key, Value>(sizeMax: number): Cache<Key, Value> {
  interface Entry {
    readonly value: Value;
    readonly size: number;
  }
  let newer = new Map<Key, Entry>();
  let older = new Map<Key, Entry>();
  let size = 0;
  function put(key: Key, entry: Entry): void {
    if (entry.size > sizeMax / 2) return;
    if (size + entry.size > sizeMax / 2) {
      older = newer;
      newer = new Map();
      size = 0;
    }
    newer.set(key, entry);
    size += entry.size;
  }
  return {
    get(key) {
      const entry = newer.get(key);
      if (entry !== undefined) return entry.value;
      const known = older.get(key);
      if (known !== undefined) put(key, known);
      return known?.value;
    },
    set: (key, value, of) => put(key, { value, size: of }),
    clear() {
      newer = new Map();
      older = new Map();
      size = 0;
    },
  };
}
