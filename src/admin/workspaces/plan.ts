import { planHas, requireFeature } from "#domain/workspace/plan.ts";
import { Problem } from "#domain/problem.ts";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { planRetentionDays } from "#domain/workspace/plans.ts";
import { limitsOf, plans } from "#domain/workspace/settings.ts";
import type { Tx } from "#database/contract.ts";

/** Throws Problem feature_not_in_plan if the plan lacks a feature that these settings use. */
export function requirePlanFor(plan: Plan, settings: Partial<WorkspaceSettings>): void {
  if (limitsUsers(settings)) requireFeature(plan, "userLimits");
  if (limitsKeys(settings)) requireFeature(plan, "ownLimits");
  if ((settings.retentionDays ?? 0) > planRetentionDays[plan]) requireFeature(plan, "longRetention");
}

const limitsUsers = ({ userLimitMinute, userLimitDay }: Partial<WorkspaceSettings>): boolean =>
  (userLimitMinute ?? null) !== null || (userLimitDay ?? null) !== null;

const limitsKeys = ({ limitMinute, limitDay }: Partial<WorkspaceSettings>): boolean =>
  (limitMinute ?? null) !== null || (limitDay ?? null) !== null;

/**
 * Throws Problem plan_downgrade_blocked if a lower plan lacks a feature that the workspace uses, or allows fewer queries than
 * the workspace has already used this month.
 */
export async function requireDowngradable(
  tx: Tx,
  workspaceId: string,
  { from, to: plan }: { readonly from: Plan; readonly to: Plan },
  settings: Partial<WorkspaceSettings>,
  now: number,
): Promise<void> {
  if (plans.indexOf(plan) >= plans.indexOf(from)) return;
  const reasons: string[] = [];
  if (!planHas(plan, "userLimits") && limitsUsers(settings)) {
    reasons.push("user_limit_minute or user_limit_day is set (set them to false)");
  }
  if (!planHas(plan, "ownLimits") && limitsKeys(settings)) {
    reasons.push("limit_minute or limit_day is set (set them to false)");
  }
  if ((settings.retentionDays ?? 0) > planRetentionDays[plan]) {
    reasons.push(`retention_days is above ${planRetentionDays[plan]} (set it to false)`);
  }
  const keys = await tx
    .selectFrom("api_keys")
    .select(["id", "limit_minute", "limit_day", "expires_at"])
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .orderBy("created_at")
    .execute();
  const limited = keys.find(({ limit_minute, limit_day }) => limit_minute !== null || limit_day !== null);
  if (!planHas(plan, "keyLimits") && limited !== undefined) {
    reasons.push(`the key ${limited.id} has limits of its own (revoke it)`);
  }
  const expiring = keys.find(({ expires_at }) => expires_at !== null);
  if (!planHas(plan, "keyExpiry") && expiring !== undefined) {
    reasons.push(`the key ${expiring.id} expires (revoke it)`);
  }
  const date = new Date(now);
  const asked = await tx
    .selectFrom("counters")
    .select("value")
    .where("name", "=", `queries:${workspaceId}`)
    .where("window_start", "=", Date.UTC(date.getUTCFullYear(), date.getUTCMonth()))
    .executeTakeFirst();
  const allowed = limitsOf(plan, settings).queriesPerMonth;
  if ((asked?.value ?? 0) > allowed) {
    reasons.push(
      `${asked?.value ?? 0} questions were asked this month, and ${plan} allows ${allowed} (wait for the next)`,
    );
  }
  if (reasons.length === 0) return;
  throw new Problem("plan_downgrade_blocked", `the plan cannot become ${plan}: ${reasons.join("; ")}.`);
}
