/** Recently used values. */
export interface Cache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value, size: number): void;
  clear(): void;
}

/**
 * Holds values up to this total size. It has two generations: a value found in the older one moves to the newer one, and
 * when the newer one is full, it replaces the older one. A lookup costs less than in a cache that keeps its entries in
 * order of use; in exchange, down to half of the size is used.
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
