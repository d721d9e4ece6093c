import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { SingleSignOn } from "./single-sign-on.tsx";

export const signIn: DashboardPage = {
  path: "sign-in",
  label: "Sign-in",
  about: "How the agents of this workspace sign in.",
  group: "Workspace",
  icon: "M6 10.5h12V20H6zM8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5",
  roles: ["admin"],
  render: () => <SignIn />,
};

interface Settings {
  readonly second_factor_required: boolean;
  readonly managed_by_file: boolean;
}

function SignIn() {
  const settings = useResource(() => api.get<Settings>("sign-in"), []);
  return (
    <>
      <PageHead title="Sign-in" lead="How the agents of this workspace sign in." />
      <Section title="Second factor" lead="A code from an app on the phone, asked for after the password.">
        <Loaded of={settings}>{(data) => <SettingsForm settings={data} />}</Loaded>
      </Section>
      <SingleSignOn />
    </>
  );
}

function SettingsForm({ settings }: { readonly settings: Settings }) {
  const { reloadMe } = useDashboard();
  const { managed_by_file: isManaged, ...initial } = settings;
  const form = useForm(initial);
  const send = async (values: typeof initial): Promise<void> => {
    await api.put("sign-in", values);
    await reloadMe();
  };
  return (
    <Form form={form} send={send} label="Save" done="Saved." isBlocked={!form.isChanged} isManaged={isManaged}>
      <SwitchField
        of={form.field("second_factor_required")}
        label="Required of every agent"
        hint="Agents without one have to set it up before they can use the inbox or the dashboard. Access tokens go on working, and a provider asks for its own."
      />
    </Form>
  );
}
