import { Problem } from "./problem.ts";

const tagsMax = 50;
const tagCharactersMax = 64;

/** Tags as they are stored and compared: trimmed, in lower case, each once, in order. Throws `Problem` for too many. */
export function audienceTags(given: readonly string[]): string[] {
  const tags = [...new Set(given.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== ""))].toSorted();
  if (tags.length > tagsMax || tags.some((tag) => tag.length > tagCharactersMax)) {
    throw new Problem(
      "invalid_parameter",
      `audience may have at most ${tagsMax} tags of at most ${tagCharactersMax} characters.`,
    );
  }
  return tags;
}
