import { afterAll, beforeAll, expect, it } from "vitest";
import type { Plan } from "#domain/workspace/settings.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { readConfigFile } from "#config/file.ts";
import { createKey, revokeKey } from "#admin/api-keys.ts";
import { setWorkspace } from "./settings.ts";
import { createWorkspace, provisionWorkspaces } from "./workspaces.ts";
import { createSecrets } from "#runtime/secrets.ts";
import type { OpenStore } from "#database/open.ts";
import { testStart } from "#test/support/http/app.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

eachDatabase("a plan", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  const clock = createHandMovedClock(testStart);
  const secrets = createSecrets("a secret for tests, of more than thirty-two characters");
  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
  });
  afterAll(() => close());

  const workspaceOn = async (plan: Plan) =>
    (await createWorkspace({ store, clock, secrets }, { name: `On ${plan} ${clock.now()}`, plan })).id;
  const set = (id: string, assignments: readonly string[], force = false) =>
    setWorkspace(store, clock, id, assignments, { force });
  const planOf = async (id: string) =>
    (await store.read.selectFrom("workspaces").select("plan").where("id", "=", id).executeTakeFirstOrThrow()).plan;
  const notInPlan = { code: "feature_not_in_plan", status: 403 };
  const blocked = (detail: string) => ({
    code: "plan_downgrade_blocked",
    status: 409,
    message: expect.stringContaining(detail),
  });

  it("allows limits of keys from starter on, but none above the plan's", async () => {
    const [free, starter] = [await workspaceOn("free"), await workspaceOn("starter")];
    await expect(createKey(store, clock, { workspaceId: free, name: "k", limitDay: 5 })).rejects.toMatchObject(
      notInPlan,
    );
    await expect(createKey(store, clock, { workspaceId: free, name: "k" })).resolves.toBeDefined();
    await expect(createKey(store, clock, { workspaceId: starter, name: "k", limitMinute: 60 })).resolves.toBeDefined();
    await expect(createKey(store, clock, { workspaceId: starter, name: "k", limitMinute: 61 })).rejects.toMatchObject({
      code: "invalid_parameter",
    });
  });

  it("allows request limits of a workspace on enterprise only, and a monthly allowance on every plan", async () => {
    const [business, enterprise] = [await workspaceOn("business"), await workspaceOn("enterprise")];
    await expect(set(business, ["limit_minute=5"])).rejects.toMatchObject(notInPlan);
    await expect(set(business, ["queries_per_month=7"])).resolves.toMatchObject({ queriesPerMonth: 7 });
    await expect(set(enterprise, ["limit_day=2000000"])).resolves.toMatchObject({ limitDay: 2_000_000 });
    await expect(set(enterprise, ["plan=business"])).rejects.toMatchObject(blocked("limit_minute or limit_day is set"));
    await set(enterprise, ["plan=business", "limit_day=false"]);
    expect(await planOf(enterprise)).toBe("business");
    const noted = store.read.selectFrom("audit").selectAll().where("workspace_id", "=", enterprise).orderBy("id");
    expect((await noted.execute()).map((row) => [row.actor_id, row.action, row.detail, row.to_value])).toEqual([
      ["operator", "settings_changed", "limit_day", "2000000"],
      ["operator", "workspace_changed", "plan", "business"],
      ["operator", "settings_changed", "limit_day", "false"],
    ]);
  });

  it("allows keys with an expiry on enterprise only", async () => {
    const expiresAt = clock.now() + 1_000;
    const business = await workspaceOn("business");
    await expect(createKey(store, clock, { workspaceId: business, name: "k", expiresAt })).rejects.toMatchObject(
      notInPlan,
    );
    const enterprise = await workspaceOn("enterprise");
    await expect(createKey(store, clock, { workspaceId: enterprise, name: "k", expiresAt })).resolves.toBeDefined();
  });

  it("allows limits of users from growth on, also in the configuration file", async () => {
    const starter = await workspaceOn("starter");
    await expect(set(starter, ["user_limit_minute=5"])).rejects.toMatchObject(notInPlan);
    await expect(set(starter, ["user_limit_minute=false"])).resolves.toMatchObject({ userLimitMinute: null });
    await expect(set(starter, ["plan=growth", "user_limit_minute=5"])).resolves.toMatchObject({ userLimitMinute: 5 });
    const file = "workspaces:\n  - name: By file\n    plan: free\n    user_limit_day: 9\n";
    const { workspaces } = readConfigFile("file", file, {});
    await expect(provisionWorkspaces({ store, clock, secrets, load: loadAdapter }, workspaces)).rejects.toMatchObject(
      notInPlan,
    );
  });

  it("cannot be lowered while a feature in use needs it, unless forced", async () => {
    const id = await workspaceOn("enterprise");
    const limited = await createKey(store, clock, { workspaceId: id, name: "limited", limitDay: 5 });
    const expiring = await createKey(store, clock, {
      workspaceId: id,
      name: "expiring",
      expiresAt: clock.now() + 60_000,
    });
    await set(id, ["user_limit_day=9"]);
    await expect(set(id, ["plan=business"])).rejects.toMatchObject(blocked(`the key ${expiring.id} expires`));
    expect(await planOf(id)).toBe("enterprise");
    clock.advance(60_000);
    await set(id, ["plan=business"]);
    await expect(set(id, ["plan=starter"])).rejects.toMatchObject(blocked("user_limit_day"));
    await set(id, ["plan=starter", "user_limit_day=false"]);
    await expect(set(id, ["plan=free"])).rejects.toMatchObject(blocked(`the key ${limited.id} has limits`));
    await set(id, ["plan=free"], true);
    expect(await planOf(id)).toBe("free");
    await set(id, ["plan=starter"]);
    await revokeKey(store, clock, limited.id);
    await set(id, ["plan=free"]);
    expect(await planOf(id)).toBe("free");
  });

  it("cannot be lowered in a month with more questions than the lower plan allows", async () => {
    const id = await workspaceOn("growth");
    const used = (value: number) =>
      store.write(async (tx) => {
        await tx.deleteFrom("counters").where("name", "=", `queries:${id}`).execute();
        await tx
          .insertInto("counters")
          .values({ name: `queries:${id}`, window_start: Date.UTC(2031, 4), value })
          .execute();
      });
    await used(3_001);
    await expect(set(id, ["plan=starter"])).rejects.toMatchObject(blocked("3001 questions"));
    await used(3_000);
    await set(id, ["plan=starter"]);
    expect(await planOf(id)).toBe("starter");
  });

  it("keeps the rules of other audience tags when one is set, and replaces all when all are given", async () => {
    const id = await workspaceOn("business");
    await set(id, ["audiences.pro.plan=[pro, enterprise]"]);
    expect(await set(id, ["audiences.staff-only.role=[employee]"])).toMatchObject({
      audiences: { pro: { plan: ["pro", "enterprise"] }, "staff-only": { role: ["employee"] } },
    });
    expect((await set(id, ["audiences={gold: {plan: [gold]}}"])).audiences).toEqual({ gold: { plan: ["gold"] } });
    await expect(set(id, ["audiences.gold.plan=gold"])).rejects.toThrow("audiences.gold.plan");
    // Capitals do not distinguish tags, so the stricter rule replaces the wider one.
    expect((await set(id, ["audiences.Gold.plan=[platinum]"])).audiences).toEqual({ gold: { plan: ["platinum"] } });
    await expect(set(id, ["audiences={gold: {}, Gold: {plan: [gold]}}"])).rejects.toThrow("has two rules");
    await expect(set(id, ["webhooks=[]"])).rejects.toThrow("parley webhook add");
    expect((await set(id, ["audiences={}"])).audiences).toEqual({});
  });
});
