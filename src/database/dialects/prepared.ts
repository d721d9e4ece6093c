import type { CompiledQuery, QueryResult } from "kysely";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { dialectOf } from "./dialect.ts";
import { execute } from "./execute.ts";

type Value = string | number | bigint | null;

/** A list holds the values of an `in`: at least one; the last may be repeated. */
type Values = Readonly<Record<string, Value | readonly Value[]>>;

/** Placeholder for a value that is given when the statement runs. */
class Slot {
  readonly name: string;
  readonly at: number;

  constructor(name: string, at: number) {
    this.name = name;
    this.at = at;
  }

  valueIn(values: Values): Value {
    const value = values[this.name];
    if (!isList(value)) return value ?? null;
    // Lists are padded to a power of two, so that few statements cover all lengths.
    return value[Math.min(this.at, value.length - 1)] ?? null;
  }
}

/** `shape` distinguishes statements that differ in more than their values. */
export type PreparedRead<V extends Values, R> = (
  store: Pick<Store, "read" | "select">,
  values: V,
  shape?: string,
) => Promise<readonly R[]>;

export type PreparedStatement<V extends Values, R> = (
  db: Tx | Reader,
  values: V,
  shape?: string,
) => Promise<QueryResult<R>>;

const shapesMax = 500;

/**
 * A frequent read, whose statement would cost more to build than to run. It is built once per database and shape. `build`
 * must use the values only as parameters.
 */
export function prepareRead<V extends Values, R>(
  build: (db: Reader, values: V, shape: string) => { compile(db: Reader): CompiledQuery<R> },
): PreparedRead<V, R> {
  const built = new WeakMap<Reader, Map<string, CompiledQuery<R>>>();
  return (store, values, shape = "") => {
    let shapes = built.get(store.read);
    if (shapes === undefined) built.set(store.read, (shapes = new Map<string, CompiledQuery<R>>()));
    const query = builtOnce(shapes, values, shape, (slots) => build(store.read, slots, shape).compile(store.read));
    return store.select(filled(query, values));
  };
}

/** Like {@link prepareRead}, for statements in transactions, and for reads outside that may wait for the database. */
export function prepareStatement<V extends Values, R = unknown>(
  build: (db: Reader, values: V, shape: string) => { compile(db: Reader): CompiledQuery<R> },
): PreparedStatement<V, R> {
  const built = { sqlite: new Map<string, CompiledQuery<R>>(), mysql: new Map<string, CompiledQuery<R>>() };
  return (db, values, shape = "") => {
    const query = builtOnce(built[dialectOf(db)], values, shape, (slots) => build(db, slots, shape).compile(db));
    return execute(db, filled(query, values));
  };
}

function builtOnce<V extends Values, R>(
  shapes: Map<string, CompiledQuery<R>>,
  values: V,
  shape: string,
  build: (slots: V) => CompiledQuery<R>,
): CompiledQuery<R> {
  let key = shape;
  for (const value of Object.values(values)) if (isList(value)) key += `\n${lengthFor(value)}`;
  let query = shapes.get(key);
  if (query === undefined) {
    const slots = Object.entries(values).map(([name, value]): [string, Slot | readonly Slot[]] => [
      name,
      isList(value) ? Array.from({ length: lengthFor(value) }, (_, at) => new Slot(name, at)) : new Slot(name, 0),
    ]);
    // Slots are typed as the values that replace them.
    query = build(Object.fromEntries(slots) as unknown as V);
    if (shapes.size >= shapesMax) shapes.clear();
    shapes.set(key, query);
  }
  return query;
}

function filled<R>(query: CompiledQuery<R>, values: Values): CompiledQuery<R> {
  const parameters = query.parameters.map((each) => (each instanceof Slot ? each.valueIn(values) : each));
  return { ...query, parameters };
}

function lengthFor(list: readonly Value[]): number {
  if (list.length === 0) throw new Error("a list in a prepared statement cannot be empty");
  return 2 ** Math.ceil(Math.log2(list.length));
}

const isList = (value: Value | readonly Value[] | undefined): value is readonly Value[] => Array.isArray(value);
