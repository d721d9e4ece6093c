// Each answer of the server is made of new objects. Components are rendered again only for other objects, so those that
// are equal to earlier ones are replaced by them.

export const keepIfEqual = <T>(before: T | undefined, after: T): T =>
  before !== undefined && JSON.stringify(before) === JSON.stringify(after) ? before : after;

export function keepUnchanged<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const earlier = new Map(before.map((item) => [item.id, item]));
  return after.map((item) => keepIfEqual(earlier.get(item.id), item));
}
