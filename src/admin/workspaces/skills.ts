import type { Skill } from "#domain/workspace/skill.ts";
import type { Secrets } from "#runtime/secrets.ts";

/**
 * The file's skills in their stored form: requests are encrypted, since they hold keys. An unchanged request keeps its
 * stored text, so that a start without changes writes nothing.
 */
export function sealedSkills(secrets: Secrets, skills: readonly Skill[], known: readonly Skill[]): readonly Skill[] {
  return skills.map((skill) => {
    if (skill.kind !== "lookup") return skill;
    const before = known.find(({ name }) => name === skill.name);
    const same = before?.kind === "lookup" && opened(secrets, before.request) === skill.request;
    return { ...skill, request: same ? before.request : secrets.seal(skill.request) };
  });
}

/** Undefined if it was stored with another secret; then it is encrypted again. */
function opened(secrets: Secrets, sealed: string): string | undefined {
  try {
    return secrets.open(sealed);
  } catch {
    return undefined;
  }
}
