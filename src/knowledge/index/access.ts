/** Documents without tags are public. A document with tags is for askers with at least one of them. */
export function canAccess(audience: string, tags: readonly string[]): boolean {
  const wanted: unknown = JSON.parse(audience);
  if (!Array.isArray(wanted)) return false;
  return wanted.length === 0 || wanted.some((tag) => typeof tag === "string" && tags.includes(tag));
}
