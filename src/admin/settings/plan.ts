import type { Plan } from "#domain/workspace/settings.ts";
import { requireDowngradable } from "#admin/workspaces/plan.ts";
import type { Edit, SettingsDependencies } from "./change.ts";
import { changeSettingsIn, readStored, requireOwn } from "./change.ts";

/** Changes the plan. Throws Problem plan_downgrade_blocked while something in use needs the present one. */
export async function changePlan({ store, clock }: SettingsDependencies, edit: Edit, plan: Plan): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now();
    await changeSettingsIn(tx, edit, now, (workspace) => {
      requireOwn(workspace, "plan", "plan");
      const { plan: from, stored } = workspace;
      const entry = { action: "settings_changed", subject: "plan", from, to: plan } as const;
      return { stored, entries: from === plan ? [] : [entry], result: undefined };
    });
    const { stored, plan: from } = await readStored(tx, edit.workspaceId);
    await requireDowngradable(tx, edit.workspaceId, { from, to: plan }, stored, now);
    await tx.updateTable("workspaces").set({ plan }).where("id", "=", edit.workspaceId).execute();
  });
}
