import { Problem } from "#domain/problem.ts";
import type { Plan } from "./settings.ts";
import { plans } from "./settings.ts";

/** The lowest plan with each feature. */
const leastPlan = {
  keyLimits: "starter",
  userLimits: "growth",
  keyExpiry: "enterprise",
  ownLimits: "enterprise",
  longRetention: "enterprise",
  oauth: "enterprise",
} as const satisfies Readonly<Record<string, Plan>>;

export type Feature = keyof typeof leastPlan;

const featureName: Readonly<Record<Feature, string>> = {
  keyLimits: "a key's own limits",
  userLimits: "limits for each user",
  keyExpiry: "keys that expire",
  ownLimits: "a workspace's own request limits",
  longRetention: "conversations kept for longer than 365 days",
  oauth: "OAuth clients",
};

export function planHas(plan: Plan, feature: Feature): boolean {
  return plans.indexOf(plan) >= plans.indexOf(leastPlan[feature]);
}

/** Throws Problem feature_not_in_plan, which names the plan to change to. */
export function requireFeature(plan: Plan, feature: Feature): void {
  if (planHas(plan, feature)) return;
  throw new Problem(
    "feature_not_in_plan",
    `The plan ${plan} lacks ${featureName[feature]}: it takes the plan ${leastPlan[feature]} or higher. An admin changes the plan in the dashboard, on the page Settings, under "Retention & limits".`,
  );
}
