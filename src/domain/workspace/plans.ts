export const plans = ["free", "starter", "growth", "business", "enterprise"] as const;
export type Plan = (typeof plans)[number];

/** Days from a conversation's last message to its deletion, by default and at most. */
export const planRetentionDays: Readonly<Record<Plan, number>> = {
  free: 365,
  starter: 365,
  growth: 365,
  business: 365,
  enterprise: 6 * 365 + 2,
};
