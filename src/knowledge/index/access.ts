/** A document without tags is for everyone, one with tags for those who have one of them. */
export function canAccess(audience: string, tags: readonly string[]): boolean {
  const wanted: unknown = JSON.parse(audience);
  if (!Array.isArray(wanted)) return false;
  return wanted.length === 0 || wanted.some((tag) => typeof tag === "string" && tags.includes(tag));
}
