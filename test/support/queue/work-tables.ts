import { Type } from "typebox";
import type { WorkDeclaration, WorkKind } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import type { WorkTable } from "#queue/work-table.ts";
import { createWorkTable } from "#queue/work-table.ts";

/** A test's declaration of a kind of work, without its name and its payload. */
export type TestHandler<P = unknown> = Omit<WorkDeclaration<P>, keyof WorkKind<P>>;

/** A table of these kinds of work, with any payload. */
export function workTableOf(handlers: Readonly<Record<string, TestHandler>>): WorkTable {
  return createWorkTable(
    Object.entries(handlers).map(([kind, handler]) => declareWork(workKind(kind, Type.Unknown()), handler)),
  );
}
