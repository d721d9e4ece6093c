export const plans = ["free", "starter", "growth", "business", "enterprise"] as const;
export type Plan = (typeof plans)[number];
