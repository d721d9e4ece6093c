import type { CompiledQuery, QueryResult } from "kysely";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { dialectOf } from "./dialect.ts";
import { execute } from "./execute.ts";

type Value = string | number | bigint | null;

/** A list stands for the values of an `in`: it has one at least, and may come with its last repeated. */
type Values = Readonly<Record<string, Value | readonly Value[]>>;

/** Stands in a statement where a value is given when it runs. */
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
    // Lists are written as long as the next power of two, so that there are few statements for all their lengths.
    return value[Math.min(this.at, value.length - 1)] ?? null;
  }
}

/** `shape` tells apart what is not the same statement with other values. */
export type PreparedRead<V extends Values, R> = (
  store: Pick<Store, "read" | "select">,
  values: V,
  shape?: string,
) => Promise<readonly R[]>;

export type PreparedWork<V extends Values, R> = (db: Tx | Reader, values: V, shape?: string) => Promise<QueryResult<R>>;

const shapesMax = 500;

/**
 * A read that is asked so often that to build its statement would cost more than to run it: built once for each database
 * and shape, and run with other values each time. `build` may use the values as parameters only.
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

/** The same for statements of a transaction; also for reads outside of one, where the database is awaited anyway. */
export function prepareWork<V extends Values, R = unknown>(
  build: (db: Reader, values: V, shape: string) => { compile(db: Reader): CompiledQuery<R> },
): PreparedWork<V, R> {
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
    // Typed as values, because that is what they stand for.
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
