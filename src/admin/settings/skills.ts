import { Problem } from "#domain/problem.ts";
import type { LookupRequest, LookupSkill, Skill } from "#domain/workspace/skill.ts";
import { fileBuiltinOf, fileLookupOf } from "#config/sections/skill-form.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { sealedSkills } from "#admin/workspaces/skills.ts";
import type { Edit, Entry, SettingsDependencies, StoredWorkspace } from "./change.ts";
import { changeSettings, readStored, requireOwn } from "./change.ts";
import { checkedWorkspace, someHours } from "./check.ts";

export interface SkillDependencies extends SettingsDependencies {
  readonly secrets: Secrets;
}

/** A skill in the form of the configuration file. A header whose value is null keeps the stored value. */
export interface GivenSkill {
  readonly name: string;
  readonly request?: { readonly url: string; readonly headers?: Readonly<Record<string, string | null>> };
}

/** Skills without the values of their headers. Addresses of the file's skills may hold secrets, so their host is shown. */
export async function listSkills(
  { store, secrets }: Pick<SkillDependencies, "store" | "secrets">,
  workspaceId: string,
) {
  const { stored, declared } = await readStored(store.read, workspaceId);
  const isFiles = declared.has("skills");
  const skills = (stored.skills ?? []).map((skill) => shownSkill(secrets, skill, isFiles));
  return { skills, managed_by_file: isFiles };
}

function shownSkill(secrets: Secrets, skill: Skill, isFiles: boolean) {
  if (skill.kind !== "lookup") return fileBuiltinOf(skill);
  const { url, headers, body } = requestOf(secrets, skill);
  return fileLookupOf(skill, {
    url: isFiles ? `${URL.parse(url)?.origin ?? ""}/…` : url,
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, null])),
    body: isFiles ? null : body,
  });
}

/** The stored skill in the form of the configuration file, with its secrets. */
export function wholeSkill(secrets: Secrets, skill: Skill): GivenSkill {
  return skill.kind === "lookup" ? fileLookupOf(skill, requestOf(secrets, skill)) : fileBuiltinOf(skill);
}

export const requestOf = (secrets: Secrets, { request }: LookupSkill): LookupRequest =>
  JSON.parse(secrets.open(request)) as LookupRequest;

export function addSkill(dependencies: SkillDependencies, edit: Edit, skill: GivenSkill) {
  return editSkills(dependencies, edit, (skills) => {
    requireFree(skills, skill.name);
    return {
      skills: [...skills, withHeaders(skill, undefined)],
      entry: { action: "skill_added", subject: skill.name },
      name: skill.name,
    };
  });
}

export function changeSkill(dependencies: SkillDependencies, edit: Edit, name: string, skill: GivenSkill) {
  return editSkills(dependencies, edit, (skills) => {
    const before = skillOf(skills, name);
    if (skill.name !== name) requireFree(skills, skill.name);
    return {
      skills: skills.map((each) => (each.name === name ? withHeaders(skill, before) : each)),
      entry: { action: "skill_changed", subject: skill.name, from: name, to: skill.name },
      name: skill.name,
    };
  });
}

export async function removeSkill(dependencies: SkillDependencies, edit: Edit, name: string): Promise<void> {
  await editSkills(dependencies, edit, (skills) => {
    skillOf(skills, name);
    return {
      skills: skills.filter((each) => each.name !== name),
      entry: { action: "skill_removed", subject: name },
      name,
    };
  });
}

/** A skill that is not saved yet, with an encrypted request, for a test call. */
export async function skillToTry(
  { store, secrets }: Pick<SkillDependencies, "store" | "secrets">,
  workspaceId: string,
  given: GivenSkill,
): Promise<Skill> {
  const workspace = await readStored(store.read, workspaceId);
  const known = workspace.stored.skills?.find(({ name }) => name === given.name);
  // A header of the file's skill must not be sent to another address.
  if (known !== undefined) requireOwn(workspace, "skills", "skills");
  const whole = withHeaders(given, known && wholeSkill(secrets, known));
  const [skill] = checkedSkills(secrets, workspace, [whole]);
  if (skill === undefined) throw new Error("skills: the checked skill was lost");
  return skill;
}

function editSkills(
  dependencies: SkillDependencies,
  edit: Edit,
  change: (skills: readonly GivenSkill[]) => {
    readonly skills: readonly GivenSkill[];
    readonly entry: Entry;
    readonly name: string;
  },
) {
  const { secrets } = dependencies;
  return changeSettings(dependencies, edit, (workspace) => {
    requireOwn(workspace, "skills", "skills");
    const { skills, entry, name } = change((workspace.stored.skills ?? []).map((skill) => wholeSkill(secrets, skill)));
    const checked = checkedSkills(secrets, workspace, skills);
    const shown = checked.filter((each) => each.name === name).map((each) => shownSkill(secrets, each, false));
    return { stored: { ...workspace.stored, skills: checked }, entries: [entry], result: shown[0] };
  });
}

function checkedSkills(
  secrets: Secrets,
  { settings, stored }: StoredWorkspace,
  skills: readonly GivenSkill[],
): readonly Skill[] {
  const hours = settings.businessHours === null ? {} : { business_hours: someHours };
  return sealedSkills(secrets, checkedWorkspace({ skills, ...hours }).skills ?? [], stored.skills ?? []);
}

/** The skill with the stored values of headers that are null. */
function withHeaders(skill: GivenSkill, before: GivenSkill | undefined): GivenSkill {
  const { request } = skill;
  if (request?.headers === undefined) return skill;
  const { headers } = request;
  // A stored secret is not sent to another server than the one it was entered for.
  const isSameServer = originOf(request.url) === originOf(before?.request?.url);
  const known = isSameServer ? (before?.request?.headers ?? {}) : {};
  const filled = Object.entries(headers).map(([name, value]) => {
    const kept = value ?? (Object.hasOwn(known, name) ? known[name] : undefined);
    if (kept === undefined || kept === null) {
      throw new Problem(
        "invalid_parameter",
        `request.headers: enter the value of ${name}; none is stored for this server.`,
      );
    }
    return [name, kept] as const;
  });
  return { ...skill, request: { ...request, headers: Object.fromEntries(filled) } };
}

const originOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : URL.parse(url)?.origin;

function skillOf(skills: readonly GivenSkill[], name: string): GivenSkill {
  const found = skills.find((each) => each.name === name);
  if (found === undefined) throw new Problem("not_found", "There is no skill of this name.");
  return found;
}

function requireFree(skills: readonly GivenSkill[], name: string): void {
  if (skills.some((each) => each.name === name)) {
    throw new Problem("already_exists", `name: there is a skill named ${name}.`);
  }
}
