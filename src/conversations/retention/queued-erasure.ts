import { hash } from "node:crypto";
import { Type } from "typebox";
import type { Reader, Tx } from "#database/contract.ts";
import type { CustomerKey } from "#database/queries/customers.ts";
import { customerOf } from "#database/queries/customers.ts";
import { finishWork, insertWorkOnce } from "#database/queries/outbox.ts";
import type { Workspaces } from "#database/queries/workspaces.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow, workKind } from "#database/work.ts";
import type { EraseCustomerDependencies } from "./erase-customer.ts";
import { eraseCustomer } from "./erase-customer.ts";

const listedMax = 20;

/** The erasure of a customer. The address is in this row only, and goes with it. */
const forgetKind = workKind(
  "forget",
  Type.Union([
    Type.Object({ workspaceId: Type.String(), email: Type.String() }),
    Type.Object({ workspaceId: Type.String(), contactId: Type.String() }),
  ]),
);
const lanesOf = (workspaceId: string): string => `forget:${workspaceId}`;
/** One lane a customer: an erasure that fails must not hold up the others. Logs name lanes, so it holds no address. */
const laneOf = (workspaceId: string, key: CustomerKey): string =>
  `${lanesOf(workspaceId)}:${hash("sha256", "email" in key ? key.email : key.contactId).slice(0, 16)}`;

interface QueuedErasureDependencies extends EraseCustomerDependencies {
  readonly workspaces: Workspaces;
}

export function declareErasure(dependencies: QueuedErasureDependencies): WorkDeclaration {
  return declareWork(forgetKind, {
    // Unlimited: a dead letter would keep the address, and the customer would stay half erased.
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 1,
    run: eachRow((row, signal) => erase(dependencies, row, signal)),
  });
}

/** Can be interrupted and repeated, because the contact is deleted last. */
async function erase(
  dependencies: QueuedErasureDependencies,
  row: Work<PayloadOf<typeof forgetKind>>,
  signal: AbortSignal,
): Promise<void> {
  const workspace = await dependencies.workspaces.get(row.payload.workspaceId);
  // A deleted workspace takes its customers with it.
  if (workspace !== undefined) await eraseCustomer({ ...dependencies, signal }, workspace, row.payload);
  await dependencies.store.write((tx) => finishWork(tx, [row]));
}

/** Queues the erasure, unless it is queued already. */
export const queueErasure = (tx: Tx, workspaceId: string, key: CustomerKey, now: number): Promise<void> =>
  insertWorkOnce(tx, forgetKind.queued(laneOf(workspaceId, key), { workspaceId, ...key }, now), now);

export interface QueuedErasure {
  readonly id: string;
  /** Null: the customer is named by a contact. */
  readonly email: string | null;
  readonly contactId: string | null;
  readonly state: "queued" | "running" | "retrying";
  readonly conversationsLeft: number;
  readonly createdAt: number;
}

/** The workspace's erasures that have not ended, in the order in which they are done. */
export async function queuedErasures(db: Reader, workspaceId: string, now: number): Promise<readonly QueuedErasure[]> {
  const rows = await db
    .selectFrom("outbox")
    .select(["id", "payload", "lease_until", "last_error", "created_at"])
    .where("kind", "=", forgetKind.kind)
    .where("lane", "like", `${lanesOf(workspaceId)}%`)
    .where("dead_at", "is", null)
    .orderBy("id")
    .limit(listedMax)
    .execute();
  return Promise.all(
    rows.map(async (row) => {
      const { payload } = forgetKind.read(row);
      const { conversationIds } = await customerOf(db, workspaceId, payload);
      const waiting = row.last_error === null ? "queued" : "retrying";
      return {
        id: String(row.id),
        email: "email" in payload ? payload.email : null,
        contactId: "contactId" in payload ? payload.contactId : null,
        state: row.lease_until !== null && row.lease_until > now ? "running" : waiting,
        conversationsLeft: conversationIds.length,
        createdAt: row.created_at,
      } as const;
    }),
  );
}
