import { codePoints } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";

const tagsMax = 50;
const tagCharactersMax = 64;

/** Trims, lower-cases and deduplicates. Throws Problem for a tag that is too long, and for too many. */
export function normalTags(name: string, tags: readonly string[]): string[] {
  const distinct = [...new Set(tags.map((tag) => tag.trim().toLowerCase()))];
  if (distinct.some((tag) => codePoints(tag) > tagCharactersMax)) {
    throw new Problem("invalid_parameter", `${name}: a tag has 1 to ${tagCharactersMax} characters.`);
  }
  if (distinct.length > tagsMax) throw new Problem("invalid_parameter", `${name}: at most ${tagsMax} tags.`);
  return distinct;
}
