import type { Validator } from "typebox/compile";
import { Compile } from "typebox/compile";
import type { OutboxRow } from "#database/queries/outbox.ts";
import type { WorkDeclaration, WorkKind } from "#database/work.ts";
import { wasConcluded } from "./worker/given-up.ts";

/** The kinds of work that this version knows. */
export interface WorkTable {
  /** Kinds that this process runs. */
  readonly kinds: readonly string[];
  /** These, and the kinds that only processes with other settings run. */
  readonly known: readonly string[];
  /** Kinds whose order does not matter. */
  readonly unordered: ReadonlySet<string>;
  /** Undefined: this process does not run the kind. */
  get(kind: string): WorkDeclaration | undefined;
  /** Parses the payload. Undefined: a newer version stored the row. */
  read<R extends Pick<OutboxRow, "kind" | "payload">>(
    row: R,
  ): (Omit<R, "payload"> & { readonly payload: unknown }) | undefined;
  /**
   * Whether running a dead letter again is safe and useful. It is not for a row that a newer version stored, which would
   * delay its lane for hours again.
   */
  canRetry(row: Pick<OutboxRow, "kind" | "payload" | "last_error">, now: number): boolean;
}

/** `elsewhere`: kinds of this version that only processes with other settings run. */
export function createWorkTable(
  declarations: readonly WorkDeclaration[],
  elsewhere: readonly WorkKind[] = [],
): WorkTable {
  const declared = new Map(declarations.map((declaration) => [declaration.kind, declaration]));
  const known = new Map([...elsewhere, ...declarations].map((kind) => [kind.kind, kind]));
  const validators = new Map<string, Validator>();

  function validatorOf(kind: string): Validator | undefined {
    const schema = known.get(kind)?.payload;
    if (schema === undefined) return undefined;
    const validator = validators.get(kind) ?? Compile(schema);
    validators.set(kind, validator);
    return validator;
  }

  const table: WorkTable = {
    kinds: [...declared.keys()],
    known: [...known.keys()],
    unordered: new Set([...elsewhere, ...declarations].flatMap(({ kind, unordered }) => (unordered ? [kind] : []))),
    get: (kind) => declared.get(kind),
    read(row) {
      const validator = validatorOf(row.kind);
      if (validator === undefined) return undefined;
      try {
        const payload: unknown = JSON.parse(row.payload);
        return validator.Check(payload) ? { ...row, payload } : undefined;
      } catch {
        // No version has stored a payload that is not JSON.
        return undefined;
      }
    },
    canRetry(row, now) {
      const work = table.read(row);
      if (work === undefined || known.get(row.kind)?.canRetry?.(work.payload, now) === false) return false;
      return declared.get(row.kind)?.onAbandon === undefined || !wasConcluded(row);
    },
  };
  return table;
}
