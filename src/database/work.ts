import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import type { Tx } from "./contract.ts";
import type { NewWork, OutboxRow } from "./queries/outbox.ts";

/** A claimed row of the outbox, with its payload parsed. */
export type Work<P = unknown> = Omit<OutboxRow, "payload"> & { readonly payload: P };

/**
 * Describes how rows of one kind are stored. Rows outlive versions: a payload that does not match the schema is left to a
 * newer version, and fields that the schema does not name are ignored. A field that may be ignored is added as optional;
 * any other change needs a new kind.
 */
export interface WorkKind<P = unknown> {
  /** Name in the database. Must never change. */
  readonly kind: string;
  readonly payload: TSchema;
  /**
   * The order of the rows does not matter. A row that is due later, because of a retry or a wrong clock, does not delay the
   * others of its lane. Absent: later rows of the lane wait for it.
   */
  readonly unordered?: true;
  /**
   * Whether a dead letter is still of use, and does no harm after later rows of its lane. An administrator may then try it
   * again. Absent: always.
   */
  canRetry?(payload: P, now: number): boolean;
  /** Returns the row to store. */
  queued(lane: string, payload: P, dueAt: number): NewWork;
  /** Parses a stored payload without checking it. */
  read<R extends Pick<OutboxRow, "payload">>(row: R): Omit<R, "payload"> & { readonly payload: P };
}

/** Everything about a kind of work. The use case's file exports it as a function of what `run` needs. */
export interface WorkDeclaration<P = unknown> extends WorkKind<P> {
  /** True: `run` gets all due rows of a lane at once. Absent: one row at a time. */
  readonly batch?: true;
  /** Tries before a row becomes a dead letter. */
  readonly attemptsMax: number;
  /** Lanes of this kind that may run at the same time. Absent: no limit but the worker's own. */
  readonly lanesMax?: number;
  /** Longest delay in favour of other work, in milliseconds. Rows that arrive meanwhile are done in the same run. */
  readonly yieldsMs?: number;
  /** Must delete its rows in the transaction that stores the result. */
  run(rows: readonly Work<P>[], signal: AbortSignal): Promise<void>;
  /** True: the work is retried after this failure however often it was tried. */
  waitsOut?(row: Work<P>, error: unknown, now: number): boolean;
  /** False: tries that `waitsOut` covers do not count towards `attemptsMax`. Absent: they count. */
  readonly countsWaiting?: false;
  /**
   * Stores the consequences of a dead letter, in its transaction: people continue from these, and the row is not tried
   * again. The returned callback is called after the commit.
   */
  onAbandon?(tx: Tx, row: Work<P>, reason: string, now: number): Promise<() => void>;
}

export type PayloadOf<K> = K extends WorkKind<infer P> ? P : never;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export function workKind<S extends TSchema>(
  kind: string,
  payload: S,
  rest: Pick<WorkKind<DeepReadonly<Static<S>>>, "unordered" | "canRetry"> = {},
): WorkKind<DeepReadonly<Static<S>>> {
  return {
    kind,
    payload,
    ...rest,
    queued: (lane, given, dueAt) => ({ lane, kind, payload: given, dueAt }),
    read: (row) => ({ ...row, payload: JSON.parse(row.payload) as DeepReadonly<Static<S>> }),
  };
}

export function declareWork<P>(
  kind: WorkKind<P>,
  rest: Omit<WorkDeclaration<P>, keyof WorkKind<P>>,
): WorkDeclaration<P> {
  return { ...kind, ...rest };
}

/** `run` of a kind that is not batched. */
export function eachRow<P>(run: (row: Work<P>, signal: AbortSignal) => Promise<void>): WorkDeclaration<P>["run"] {
  return async (rows, signal) => {
    for (const row of rows) await run(row, signal);
  };
}

/** Schema of a union's `kind`. The type checker rejects a list that lacks one of them. */
export const kindsOf = <K extends string>(kinds: Readonly<Record<K, true>>) => Type.Enum(Object.keys(kinds) as K[]);
