import { Problem } from "#domain/problem.ts";
import type { Plan } from "./settings.ts";
import { plans } from "./settings.ts";

/** What not every plan has, and the lowest plan that has it. */
const leastPlan = {
  keyLimits: "starter",
  userLimits: "growth",
  keyExpiry: "enterprise",
  ownLimits: "enterprise",
} as const satisfies Readonly<Record<string, Plan>>;

export type Feature = keyof typeof leastPlan;

const featureName: Readonly<Record<Feature, string>> = {
  keyLimits: "a key's own limits",
  userLimits: "limits for each user",
  keyExpiry: "keys that expire",
  ownLimits: "a workspace's own request limits",
};

export function planHas(plan: Plan, feature: Feature): boolean {
  return plans.indexOf(plan) >= plans.indexOf(leastPlan[feature]);
}

/** Throws Problem feature_not_in_plan, which names the plan to change to. */
export function requireFeature(plan: Plan, feature: Feature): void {
  if (planHas(plan, feature)) return;
  throw new Problem(
    "feature_not_in_plan",
    `${featureName[feature]} need the plan ${leastPlan[feature]} or higher; this workspace is on ${plan}: parley workspace set ID plan=${leastPlan[feature]}`,
  );
}
