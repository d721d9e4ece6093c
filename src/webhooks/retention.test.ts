import { afterAll, beforeAll, expect, it } from "vitest";
import type { Store } from "#database/contract.ts";
import { operatorActor } from "#admin/audit.ts";
import { readAudit } from "#admin/audit-log.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
} from "#admin/webhooks/webhooks.ts";
import { provisionWebhooks } from "#admin/webhooks/provisioning.ts";
import { rotateIdentitySecret } from "#admin/workspaces/workspaces.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";

const waiting = 1_600;
const rowsAtOnceMax = 500;

eachDatabase("maintenance of webhooks", (open) => {
  let bench: EngineBench;
  beforeAll(async () => {
    bench = await openBench(open);
  });
  afterAll(() => bench.close());

  const dependencies = () => ({
    store: bench.store,
    clock: bench.clock,
    secrets: bench.app.services.secrets,
    allowPrivate: true as const,
  });

  const url = "http://127.0.0.1:9/hook";

  /** An endpoint with a long queue, due tomorrow. */
  async function loaded(): Promise<string> {
    const { id } = await addWebhook(dependencies(), { workspaceId: bench.workspaceId, url });
    const row = {
      endpoint_id: id,
      subject_id: "conv",
      due_at: bench.clock.now() + 86_400_000,
      attempts: 1,
      created_at: 1,
    };
    const attempt = { endpoint_id: id, event_id: "evt", attempt: 1, outcome: "retry" as const, at: 1, duration_ms: 1 };
    const rest = { status: null, error: null, response: null, next_at: null };
    for (let at = 0; at < waiting; at += 400) {
      await bench.store.write(async (tx) => {
        const rows = Array.from({ length: 400 }, (_, i) => ({ ...row, event_id: `${id} ${at + i}` }));
        await tx.insertInto("webhook_queue").values(rows).execute();
        await tx
          .insertInto("webhook_attempts")
          .values(rows.map(() => ({ ...attempt, ...rest })))
          .execute();
      });
    }
    return id;
  }

  const rowsLeft = async (db: Pick<Store, "read">["read"], id: string): Promise<number> => {
    let count = 0;
    for (const table of ["webhook_queue", "webhook_attempts"] as const) {
      const { rows } = await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number | string>().as("rows"))
        .where("endpoint_id", "=", id)
        .executeTakeFirstOrThrow();
      count += Number(rows);
    }
    return count;
  };

  /** The store, and the number of the endpoint's rows that its largest transaction deleted. */
  function watched(id: string, failAfter = Number.POSITIVE_INFINITY) {
    let largest = 0;
    let writes = 0;
    const store: Store = {
      ...bench.store,
      write: async (work) => {
        writes += 1;
        if (writes > failAfter) throw new Error("killed");
        return bench.store.write(async (tx) => {
          const before = await rowsLeft(tx, id);
          const result = await work(tx);
          largest = Math.max(largest, before - (await rowsLeft(tx, id)));
          return result;
        });
      },
    };
    return { store, largest: () => largest };
  }

  const stateOf = async (id: string) =>
    (await listWebhooks(bench.store, bench.workspaceId)).find((row) => row.id === id) ?? null;

  it("disables an endpoint with a long queue in short transactions", async () => {
    const id = await loaded();
    const { store, largest } = watched(id);
    await disableWebhook(store, bench.clock, id);
    expect(await stateOf(id)).toMatchObject({ state: "disabled", waiting: 0 });
    expect(largest()).toBeLessThanOrEqual(rowsAtOnceMax);
    expect(largest()).toBeGreaterThan(0);
  });

  it("removes an endpoint with a long queue in short transactions, and continues after an interruption", async () => {
    const id = await loaded();
    const { store, largest } = watched(id, 3);
    await expect(removeWebhook(store, bench.clock, id)).rejects.toThrow("killed");
    expect(await stateOf(id)).toMatchObject({ state: "disabled" });
    const again = watched(id);
    await removeWebhook(again.store, bench.clock, id);
    expect([await stateOf(id), await rowsLeft(bench.store.read, id)]).toEqual([null, 0]);
    expect(Math.max(largest(), again.largest())).toBeLessThanOrEqual(rowsAtOnceMax);
  });

  it("sends no earlier events when an endpoint is enabled whose disabling was interrupted", async () => {
    const id = await loaded();
    await expect(disableWebhook(watched(id, 2).store, bench.clock, id)).rejects.toThrow("killed");
    expect(await stateOf(id)).toMatchObject({ state: "disabled", waiting: expect.any(Number) });
    expect(await rowsLeft(bench.store.read, id)).toBeGreaterThan(waiting);
    await enableWebhook(bench.store, bench.clock, id);
    expect(await stateOf(id)).toMatchObject({ state: "enabled", waiting: 0 });
    await removeWebhook(bench.store, bench.clock, id);
  });

  it("records who has replaced a secret, but no secret, in the audit log", async () => {
    const { id, secret } = await addWebhook(dependencies(), { workspaceId: bench.workspaceId, url });
    const rotated = await rotateWebhook(dependencies(), id);
    const identity = await rotateIdentitySecret(dependencies(), bench.workspaceId, operatorActor);
    const webhooks = (fileSecret: string) => [
      {
        name: "Test",
        plan: undefined,
        settings: {},
        channels: [],
        webhooks: [{ url: `${url}/file`, secret: fileSecret }],
      },
    ];
    const secrets = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`);
    for (const each of secrets) await provisionWebhooks(dependencies(), webhooks(each));
    const inFile = (await listWebhooks(bench.store, bench.workspaceId)).find((row) => row.managed_by === "file");
    const { entries } = await readAudit(bench.store, {
      workspaceId: bench.workspaceId,
      conversationId: undefined,
      since: undefined,
      limit: 100,
    });
    const noted = entries.filter(({ action }) => action === "secret_rotated");
    expect(noted.map(({ actor, detail, conversation_id }) => [actor.id, detail, conversation_id])).toEqual([
      ["operator", `the secret of webhook ${id}`, null],
      ["operator", "the identity secret", null],
      ["configuration file", `the secret of webhook ${inFile?.id ?? ""}`, null],
    ]);
    const text = JSON.stringify(entries);
    for (const each of [secret, rotated.secret, identity, ...secrets]) expect(text).not.toContain(each);
  });
});
