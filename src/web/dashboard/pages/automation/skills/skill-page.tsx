import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import type { Skill, SkillList, SkillValues } from "./skill.ts";
import { skillOf, valuesOf } from "./skill.ts";
import { SkillFields } from "./skill-fields.tsx";
import { SkillTrial } from "./trial.tsx";

const newSkill: Skill = { name: "", description: "", request: { url: "" } };
const back = { label: "Skills", href: addressOf("skills") };

/** One skill: its form, and a test call. */
export function SkillPage({ name }: { readonly name: string | undefined }) {
  const list = useResource(() => api.get<SkillList>("skills"), [name]);
  return (
    <>
      <PageHead title={name ?? "New skill"} back={back} />
      <Loaded of={list}>
        {({ skills, managed_by_file: isManaged }) => {
          const skill = name === undefined ? newSkill : skills.find((each) => each.name === name);
          if (skill === undefined) return <p>There is no skill of this name.</p>;
          return <SkillEditor key={skill.name} skill={skill} isNew={name === undefined} isManaged={isManaged} />;
        }}
      </Loaded>
    </>
  );
}

function SkillEditor(props: { readonly skill: Skill; readonly isNew: boolean; readonly isManaged: boolean }) {
  const { skill, isNew, isManaged } = props;
  const { router } = useDashboard();
  const form = useForm(valuesOf(skill));
  const send = async (values: SkillValues): Promise<void> => {
    const given = skillOf(values);
    const saved = await (isNew
      ? api.post<Skill>("skills", given)
      : api.put<Skill>(`skills/${encodeURIComponent(skill.name)}`, given));
    form.setValues(valuesOf(saved));
    if (saved.name !== skill.name) router.go(addressOf("skills", saved.name));
  };
  return (
    <>
      <Form form={form} send={send} label="Save" done="Saved." isManaged={isManaged}>
        <SkillFields form={form} />
      </Form>
      {form.values.kind === "request" && !isManaged && <SkillTrial values={form.values} />}
    </>
  );
}
