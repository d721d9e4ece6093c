import type { Skill } from "#domain/workspace/skill.ts";
import type { Secrets } from "#runtime/secrets.ts";

/**
 * The file's skills as they are stored: what a look-up asks, which has keys in it, is sealed. What is stored and the
 * same stays as it is, so that a start without changes changes nothing.
 */
export function sealedSkills(secrets: Secrets, skills: readonly Skill[], known: readonly Skill[]): readonly Skill[] {
  return skills.map((skill) => {
    if (skill.kind !== "lookup") return skill;
    const before = known.find(({ name }) => name === skill.name);
    const same = before?.kind === "lookup" && opened(secrets, before.request) === skill.request;
    return { ...skill, request: same ? before.request : secrets.seal(skill.request) };
  });
}

/** Undefined where it was stored with another secret: then it is stored anew. */
function opened(secrets: Secrets, sealed: string): string | undefined {
  try {
    return secrets.open(sealed);
  } catch {
    return undefined;
  }
}
