import { useState } from "preact/hooks";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { AccessTokens } from "./access-tokens.tsx";
import { Picture } from "./picture.tsx";
import { Password } from "./password.tsx";
import type { SecondFactorState } from "./second-factor.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

export const account: DashboardPage = {
  path: "account",
  label: "Your account",
  about: "Your name, picture, password, second factor and sessions.",
  group: "Workspace",
  icon: "M12 11.5a3.8 3.8 0 1 0 0-7.6 3.8 3.8 0 0 0 0 7.6ZM4.5 20a7.5 7.5 0 0 1 15 0",
  roles: ["admin", "agent", "viewer"],
  writers: ["admin", "agent", "viewer"],
  render: () => <Account />,
};

function Account() {
  const { me, reloadMe } = useDashboard();
  const { id, email, role, lacks_second_factor: isLacking } = me.value.agent;
  const state = useResource(() => api.get<SecondFactorState>("me/second-factor"), []);
  const changed = async (): Promise<void> => {
    await state.reload();
    await reloadMe();
  };
  return (
    <>
      <PageHead title="Your account" lead={email} />
      {isLacking && (
        <Callout tone="wait">
          <p>This workspace requires a second factor. Set it up to go on.</p>
        </Callout>
      )}
      <Section title="Profile">
        <ProfileForm />
        {role === "admin" && !isLacking && (
          <p class="hint">
            You sign in with {email}. <a href={addressOf("team", id)}>Change the address</a>
          </p>
        )}
      </Section>
      <Section title="Picture" lead="Customers see it beside your messages in the chat of your site.">
        <Picture />
      </Section>
      <Loaded of={state}>
        {(data) => (
          <>
            <Section title="Password" lead="A change ends your other sessions.">
              <Password key={String(data.has_password)} hasPassword={data.has_password} changed={changed} />
            </Section>
            <Section title="Second factor" lead="A code from an app on your phone, asked for after the password.">
              <SecondFactor state={data} changed={changed} />
            </Section>
          </>
        )}
      </Loaded>
      <Sessions />
      {role === "admin" && !isLacking && <AccessTokens />}
    </>
  );
}

interface ProfileValues {
  readonly name: string;
  readonly away: boolean;
}

function ProfileForm() {
  const { me, reloadMe } = useDashboard();
  const { name, away, role } = me.value.agent;
  const [saved, setSaved] = useState<ProfileValues>({ name, away });
  const form = useForm(saved);
  // An administrator may have changed the other value since the page was opened.
  const send = async (values: ProfileValues): Promise<void> => {
    await api.patch("me", {
      ...(values.name === saved.name ? {} : { name: values.name }),
      ...(values.away === saved.away ? {} : { away: values.away }),
    });
    setSaved(values);
    await reloadMe();
  };
  return (
    <Form form={form} send={send} label="Save" done="Saved." isBlocked={!form.isChanged}>
      <TextField
        of={form.field("name")}
        label="Your name"
        hint="Customers see it with your replies."
        required
        maxLength={100}
        autocomplete="name"
      />
      {role !== "viewer" && (
        <SwitchField of={form.field("away")} label="Away" hint="Rules assign no conversations to you." />
      )}
    </Form>
  );
}
