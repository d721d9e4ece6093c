import type { CompiledQuery } from "kysely";
import type { Reader, Store } from "#engine/ports.ts";

type Values = Readonly<Record<string, string | number>>;

/** Stands in a statement where a value is given when it runs. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** `shape` tells apart what is not the same statement with other values. */
export type PreparedRead<V extends Values, R> = (
  store: Pick<Store, "read" | "select">,
  values: V,
  shape?: string,
) => Promise<readonly R[]>;

const shapesMax = 500;

/**
 * A read that is asked so often that to build its statement would cost more than to run it: built once for each database
 * and shape, and run with other values each time. `build` may use the values as parameters only.
 */
export function prepareRead<V extends Values, R>(
  build: (db: Reader, values: V, shape: string) => { compile(db: Reader): CompiledQuery<R> },
): PreparedRead<V, R> {
  const built = new WeakMap<Reader, Map<string, CompiledQuery<R>>>();

  function queryFor(db: Reader, names: readonly string[], shape: string): CompiledQuery<R> {
    let shapes = built.get(db);
    if (shapes === undefined) built.set(db, (shapes = new Map<string, CompiledQuery<R>>()));
    let query = shapes.get(shape);
    if (query === undefined) {
      // Typed as values, because that is what they stand for.
      const slots = Object.fromEntries(names.map((name) => [name, new Slot(name)])) as unknown as V;
      query = build(db, slots, shape).compile(db);
      if (shapes.size >= shapesMax) shapes.clear();
      shapes.set(shape, query);
    }
    return query;
  }

  return (store, values, shape = "") => {
    const query = queryFor(store.read, Object.keys(values), shape);
    const parameters = query.parameters.map((each) => (each instanceof Slot ? values[each.name] : each));
    return store.select({ ...query, parameters });
  };
}
